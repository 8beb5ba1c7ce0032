"""Words that attacks use more than ordinary notes do; many of them together are an alarm.

The weights were fitted by logistic regression on some 320 attacks and 1,200 notes, conventions and sentences of
documents written for this purpose, and rounded to quarters.
"""

from __future__ import annotations

from mycel.engine.poison.lexicon import (
    ADDRESS,
    AUTHORITY,
    CONCEALMENT,
    DISCLOSURE,
    MARKUP,
    OVERRIDE,
    STEERING,
    Words,
)

WORDS: tuple[Words, ...] = (
    Words(
        ADDRESS,
        2.0,
        "dear assistant|dear model|dear agent|dear ai|dear llm|hey model|hey assistant|hey ai|hello ai|"
        "hello assistant|hello agent|hi assistant|yo assistant|attention agent|attention assistant|"
        "attention model|attention ai|to the assistant|to the model|to the ai|to the agent|to the next agent|"
        "to the llm|to all agent|to all assistant|to all bot|for the assistant|for the model|for the ai|for ai|"
        "for llm|to llm|for language model|note to self|next agent|other agent|all bot|any agent|any assistant|"
        "any model|any ai|every ai|every agent|every assistant|each agent|each assistant|whichever assistant|"
        "whichever agent|whatever ai|fellow agent|colleague agent|psst|machines only|ai only",
    ),
    Words(
        ADDRESS,
        1.75,
        "read this|load this|retrieve this|recall this|see this|find this|open this|process this|quote this|"
        "cite this|summarise this|summarize this|pick up this|come across this|parse this|index this|handle this|"
        "use this note|use this memory|use this text|get this result|meet this text|translate this|condense this|"
        "is recalled|is retrieved|is loaded|show up in|of this discussion|of this meeting|after reading this",
    ),
    Words(
        ADDRESS,
        1.5,
        "ai|llm|language model|assistant|model|chatbot|copilot|artificial intelligence|summariser|summarizer|"
        "automated reader|machine reader|ai system|bot",
    ),
    Words(
        ADDRESS,
        1.5,
        "this note|this memory|this entry|this message|this line|this record|this text|this instruction|"
        "this prompt|this item|these instruction|this one|this wiki page|this result",
    ),
    Words(
        ADDRESS,
        1.5,
        "this page|this document|this thread|this discussion|this meeting|this article|this ticket",
    ),
    Words(ADDRESS, 1.25, "note"),
    Words(ADDRESS, 1.0, "agent"),
    Words(
        OVERRIDE,
        2.75,
        "your instruction|your guideline|your rule|your policy|your prompt|your system prompt|your programming|"
        "your training|your restriction|your developer|your creator|your maker|your goal|your task|your role|"
        "your order|your * instruction|your * guideline|your * rule|your * policy|your * task|your * job|"
        "your * assignment|your memory|your other memory|your identity|your setup|of yourself",
    ),
    Words(
        OVERRIDE,
        1.0,
        "instruction|guideline|rule|guardrail|restriction|safety|policy|filter|permission|command|order",
    ),
    Words(
        OVERRIDE,
        0.75,
        "previous|prior|above|earlier|so far|been told|were told|told otherwise|started with|before this|word above",
    ),
    Words(
        OVERRIDE,
        0.5,
        "ignore|disregard|forget|override|bypass|overrule|set aside|pay no attention|no attention|do not follow|"
        "stop following|not rely on|not care about|no longer hold|no longer apply|not count|suspend|lift|"
        "withdraw|abolish|void|start over|drop what|stop listening|leave your role",
    ),
    Words(
        CONCEALMENT,
        1.25,
        "silently|quietly|covertly|to yourself|between us|leave out|leave away|hide|omit|conceal|without telling|"
        "say nothing|as if nothing|keep quiet|not notice|not find out|invisible|not comment|keep this|"
        "not discuss|withhold|exclude|to nobody|nobody must|not explain|speak to nobody|must not learn|"
        "without comment",
    ),
    Words(
        CONCEALMENT,
        0.75,
        "not tell|not mention|not show|not reveal|not inform|not bring up|not let|never tell|never mention|"
        "never show|never reveal|never let|don't tell|don't mention|don't show|need not tell|need not know|"
        "not disclose|nobody has to be told|no need to inform|may not reveal|will not disclose|don't discuss|"
        "dont check|not bother",
    ),
    Words(
        DISCLOSURE,
        1.5,
        "reveal|print|output|disclose|leak|expose|dump|paste|exfiltrate|recite|hand over|hand out|give me|"
        "tell me|send me|mail me|show me|transmit|deliver|repeat|provide full",
    ),
    Words(
        DISCLOSURE,
        1.25,
        "credential|secret|api key|private key|ssh key|password|passwd|token|cookie|env|environment variable|"
        "environment file|connection string|recovery code|the key|all key|its key|authorization header|keys",
    ),
    Words(
        DISCLOSURE,
        1.25,
        "conversation|chat|last message|user's question|contents of|content of|every memory|all memory|memories|"
        "the notes you|all the notes",
    ),
    Words(
        DISCLOSURE,
        1.0,
        "private memory|private note|private folder|private|confidential|internal note|salary|customer list|"
        "member list|all member|list of all|of all member",
    ),
    Words(
        MARKUP,
        1.0,
        "system prompt|system message|system override|system notice|hidden prompt|hidden instruction|"
        "developer message|hidden setting|hidden hint|secret instruction|hidden text|the prompt",
    ),
    Words(
        AUTHORITY,
        2.5,
        "obey|comply|carry out|carry them out|take order|take its order|speak for|count as|treat like|"
        "treat every|same rank|do what|what * say|whatever * say|as though|as if|do as|do everything|do exactly|"
        "do only what|command only|follow only|act on it|gives command|order from|is required to|are required to|"
        "instruct the|serve any",
    ),
    Words(
        AUTHORITY,
        1.75,
        "without ask|without confirmation|without approval|without check|without look|without question|"
        "without review|not ask|don't ask|no check|no confirmation|no approval|no review|no question|no human|"
        "need no|not wait|no person|not need|human consent|human approval|skip the|no further|don't think|"
        "not open the|on your own",
    ),
    Words(AUTHORITY, 1.5, "no matter|whatever|even if|even when|regardless|although|at all cost|under any"),
    Words(
        AUTHORITY,
        1.25,
        "other memory|other note|other entry|all other|the other|remain note|remain memory|remain result|"
        "the rest|everything else|of other|other result|older note|conflict entry|no other|not look for|"
        "search again|stop search|no more result|only memory|only note|this alone|it alone|one alone|only this|"
        "nothing but",
    ),
    Words(
        AUTHORITY,
        1.25,
        "approve|authorise|authorize|allow|grant|agree|sign off|permission|wave through|gave the ok|permit|"
        "clear with|green light|certify|as passed",
    ),
    Words(
        AUTHORITY,
        1.25,
        "admin right|root right|to admin|as admin|group of admin|trust level|my trust|to high|the trust|"
        "raise the|write access|full access|access granted|role of|the author|writer of|the confidence|"
        "confidence of",
    ),
    Words(
        AUTHORITY,
        1.0,
        "poison|tamper|manipulate|lie|trap|impostor|attacker|fake|wrong|false|invalid|genuine|believe|rely on|outdate",
    ),
    Words(
        AUTHORITY,
        1.0,
        "admin|administrator|superadmin|root|operator|owner|cto|ceo|cfo|lead developer|management|the lead|auditor",
    ),
    Words(AUTHORITY, 1.0, "guest|visitor|contractor|outsider"),
    Words(AUTHORITY, 0.75, "i|me|my|we are the|this is the|i'm|i am|i'v"),
    Words(
        STEERING,
        2.0,
        "recommend|praise|promote|discourage|slogan|sponsor|is best|the best|winner|flaw|alternative|competitor|"
        "vendor|buy|discount|favour|link to|advise|excellent|call it",
    ),
    Words(
        STEERING,
        1.75,
        "anyone ask|someone ask|somebody ask|anybody ask|user ask|whoever ask|people ask|when ask|if ask|"
        "wants to know|they ask|asks about|asked about|asked for|the user request",
    ),
    Words(
        STEERING,
        1.75,
        "claim|say that|say it|state that|report that|pretend|insist|lie about|say nothing|say the|just say|"
        "just answer|simply say|say to|tell people|tell the user|tell whoever|inform the user|double them|"
        "replace the|swap the|in place of|all green|answer that",
    ),
    Words(STEERING, 1.25, "answer|reply|respond|refuse|decline"),
    Words(STEERING, 1.25, "you"),
    Words(
        STEERING,
        1.25,
        "copy of it|copy this|word for word|pass this|repeat it|remember this|save a new copy|into every project|"
        "to all folder|all other project|in all note|each folder|write it again|store this",
    ),
    Words(
        STEERING,
        1.0,
        "your answer|your reply|your response|your summary|your output|your message|your context|your recap|"
        "your * answer|your * reply|your * response|your * message|your * summary",
    ),
    Words(STEERING, 1.0, "the user|the human|a human|the person|a person|the caller|the reader|user's"),
    Words(
        STEERING,
        1.0,
        "from now on|from today|from here on|from this point|starting now|as of now|at once|right away|"
        "immediately|urgent|hurry|attention|as soon as|starting today|now",
    ),
    Words(STEERING, 1.0, "any|anything|everything|every|all|whoever"),
    Words(STEERING, 0.75, "your"),
    Words(
        STEERING,
        0.5,
        "every answer|each answer|all answer|every reply|each reply|all reply|every response|each response|"
        "all response|any response|all question|every question|each question|every request|any request|"
        "all request|each summary|every time",
    ),
    Words(STEERING, 0.5, "must|have to|has to|shall|should|need to"),
    Words(STEERING, 0.25, "please|kindly|so kind|thank you|favour|lovely|friendly|many thank"),
)
