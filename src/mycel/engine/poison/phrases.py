"""Phrases that give an attack away alone: orders to disregard orders, an AI spoken to, marks of chats and tools."""

from __future__ import annotations

from mycel.engine.poison.lexicon import (
    ADDRESS,
    CONCEALMENT,
    DISCLOSURE,
    MARKUP,
    OVERRIDE,
    PERSONA,
    STEERING,
    Phrase,
)

# Within one sentence, and never far, so that no text can make a pattern slow.
_NEAR = r"[^.!?\n]{0,30}?"
_FAR = r"[^.!?\n]{0,60}?"
_AI = r"(?:ai|llms?|language models?|assistants?|agents?|models?|bots?|chatbots?|copilots?|machines|claude|chatgpt|gpt)"
_NOTE = r"(?:note|memory|message|text|page|record|entry|document|thread|instruction|prompt|wiki|line|result|item)"
_RULES = r"(?:instructions?|guidelines?|guidance|prompts?|directives?|guardrails?|restrictions?|constraints?)"
_NEVER = r"(?:do not|don't|never|must not|should not|need not|without|not)"
_IGNORE = (
    r"\b(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|overrid(?:e|ing)|bypass|discard|neglect|cancel"
    r"|set aside)\b"
)
_IGNORE_HINTS = (
    "ignor",
    "disregard",
    "forget",
    "overrid",
    "bypass",
    "discard",
    "neglect",
    "cancel",
    "set aside",
    "follow",
)
_READ = (
    r"(?:read(?:s|ing)?|load(?:s|ing)?|retriev(?:es?|ing)|recall(?:s|ing)?|process(?:es|ing)?|summari[sz](?:es?|ing)"
    r"|quot(?:es?|ing)|cit(?:es?|ing)|ingest(?:s|ing)?|pars(?:es?|ing)|index(?:es|ing)?|sees?|seeing|opens?|opening)"
)
_SHOW = r"(?:reveal|print|output|show|display|disclose|repeat|recite|leak|give|tell|append|dump|paste|write|export)"

PHRASES: tuple[Phrase, ...] = (
    Phrase(
        OVERRIDE,
        _IGNORE_HINTS,
        rf"(?:{_IGNORE}|\b(?:do not|don't|stop) follow(?:ing)?\b){_NEAR}\b(?:previous|prior|preceding|above"
        rf"|earlier|foregoing"
        rf"|your|system|safety)\b{_NEAR}\b(?:{_RULES}|rules|polic(?:y|ies)|context|training|checks)\b"
        # What has a subject of its own is about work: the earlier instructions for the VPN.
        r"(?! (?:for|about|on|in|of|from) )",
    ),
    Phrase(
        OVERRIDE,
        _IGNORE_HINTS,
        rf"{_IGNORE} (?:all |any |every |each |of |the |these |those )+(?:{_RULES})(?: above\b|\W|$)(?!(?:for"
        rf"|about|on|in|of|from) )",
    ),
    Phrase(
        OVERRIDE,
        ("forget", "disregard", "ignore"),
        rf"\b(?:forget|disregard|ignore) (?:everything|all|anything|what(?:ever)?)\b{_NEAR}\b(?:you (?:were|have"
        rf"|know|learn)|above"
        r"|before this|told|so far|came before)\b",
    ),
    Phrase(
        OVERRIDE,
        ("your",),
        rf"\byour (?:\w+ ){{0,2}}(?:{_RULES}|rules|polic(?:y|ies)|training|programming)\b{_NEAR}\b(?:errors?"
        rf"|updated|changed"
        r"|revised|replaced|void|suspended|outdated|no longer|wrong|lifted|obsolete|withdrawn|(?:do not"
        r"|don't) apply)\b",
    ),
    Phrase(
        ADDRESS,
        ("this",),
        rf"\b(?:when(?:ever)?|once|if|after|while|upon|on|as soon as) (?:you )?{_READ} this(?: {_NOTE}\b|[,.:;]|$)"
        r"(?! (?:in the (?:log|output|console)|type|queue))",
    ),
    Phrase(
        ADDRESS,
        ("this", "that"),
        rf"\b(?:every|each) time (?:this|that) {_NOTE} (?:is|gets|comes)\b|\bwhen(?:ever)? this {_NOTE} (?:is"
        rf"|gets) (?:read|recalled"
        r"|loaded|retrieved|quoted)\b",
    ),
    Phrase(
        ADDRESS,
        ("this", "following"),
        rf"\b{_AI}\b(?: \w+){{0,2}}? (?:(?:that|who|which) )?(?:{_READ}|finds?|receiv(?:es?|ing)|uses?|using"
        rf"|picks? up)"
        rf" (?:this|the following)(?: \w+)?(?: {_NOTE}\b|[,.:;]|$| (?:must|should|shall|has|have|will)\b)"
        rf"|\b{_AI} (?:(?:that|who|which) )?{_READ} this {_NOTE}\b",
    ),
    Phrase(
        ADDRESS,
        ("you",),
        r"\b(?:if|since|because|as|when|in case) you(?:'re| are) (?:an? |the |any )?(?:ai|llm"
        r"|(?:large )?language model|model"
        rf"|assistant|chatbot|artificial)\b|\byou, (?:the |my |dear )?{_AI}\b|\byou(?:'re"
        rf"| are) (?:now )?reading (?:a )?memory\b",
    ),
    Phrase(
        CONCEALMENT,
        ("this", "these", " it "),
        rf"\b{_NEVER} (?:\w+ )?(?:tell|mention|reveal|disclose|quote|refer|talk|say"
        rf"|report)(?:ing)?\b{_FAR}\b(?:about this"
        rf" (?:{_NOTE}|change|step|request)\b|these instructions|(?:it|this) to (?:the |any)?(?:user|human"
        rf"|operator|one|body))",
    ),
    Phrase(
        CONCEALMENT,
        ("yourself", "between us"),
        r"\bkeep (?:this|it|that)\b[^.!?\n]{0,20}\b(?:to yourself|between us)\b",
    ),
    Phrase(
        DISCLOSURE,
        ("prompt", "instructions"),
        rf"\b{_SHOW}\b{_NEAR}\byour (?:\w+ ){{0,2}}(?:prompt|instructions)\b"
        rf"|\b{_SHOW}\b{_NEAR}\b(?:hidden|full|entire|initial|secret) (?:system )?prompt\b",
    ),
    Phrase(
        STEERING,
        ("decode",),
        r"\bdecode\b[^!?\n]{0,60}?\b(?:and|then)\b[^.!?\n]{0,20}\b(?:do|follow|execute|run|obey|act)\b",
    ),
    Phrase(
        PERSONA, ("you are now",), r"\byou are now (?:an?|the|free|called|known|acting|unrestricted|in \w+ mode|dan)\b"
    ),
    Phrase(PERSONA, ("no longer",), r"\byou(?:'re| are) no longer (?:an?|the|bound|restricted|limited)\b"),
    Phrase(
        MARKUP, ("<",), r"</?(?:system|instructions?|assistant|prompt|admin|developer)(?: [^>\n]{0,40})?>|<<?/?sys>>?"
    ),
    Phrase(MARKUP, ("<|",), r"<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id)\|?>"),
    Phrase(
        MARKUP,
        ("</", "<tool", "<function"),
        r"</?(?:tool_results?|function_results?|function_calls?|tool_response|tool_output)\b[^>\n]{0,60}>"
        r"|</ ?stored[\s_-]*notes(?!>`)",
    ),
    Phrase(
        MARKUP,
        ("[",),
        r"\[/?(?:inst|tool_results?|tool_output|function_results?|system(?: message| prompt| note)?)\b[^\]\n]{0,60}\]",
    ),
    Phrase(
        MARKUP,
        ("human", "assistant"),
        r"(?<!\s)(?>\s*?\n\n\s*)(?:human|user|assistant) ?:[^\n]*\n(?>\s*)(?:assistant|ai|human|user) ?:",
    ),
    Phrase(
        MARKUP,
        ("user:", "human:", "assistant:", "user :", "human :", "assistant :"),
        r"(?:^|\n)[ >*]{0,8}(?:human|user|assistant) ?: ?[^\s:]{1,40} [^\n]{1,300}\n{1,3}"
        r"[ >*]{0,8}(?:assistant|ai|human|user) ?: ?\S",
    ),
    Phrase(
        MARKUP,
        ("system:", "assistant:", "developer:"),
        r"(?:^|\n)[ >*#|-]{0,8}(?:system|assistant|developer) ?:[ *_]{0,4}"
        r"(?:you (?:must|are now|have|now|should|will)|ignore|disregard|from now|override|sure, i"
        r"|new (?:rule|policy|task|directive|instruction))",
    ),
    Phrase(MARKUP, ("#",), r"(?:^|\n)#{1,6} ?(?:system|instruction|human|assistant) ?: ?(?:\n|$)"),
    Phrase(MARKUP, ('"role"',), r'"role"\s*:\s*"(?:system|developer)"\s*,\s*"content"\s*:\s*"(?!\.\.\.|<)'),
    Phrase(
        MARKUP,
        ("#", "*"),
        r"(?:^|\n)(?>[^\S\n]*)(?:#{1,4}|\*\*) ?(?:(?:new |updated |additional |system |revised )+"
        r"(?:instructions?|prompts?"
        r"|directives?"
        rf"|message)|(?:new )?(?:instructions?|tasks?) (?:to|for) (?:the |all |any )?{_AI})\b",
    ),
    Phrase(
        MARKUP,
        ("end of",),
        r"(?:^|[\n\]\[\-=*#<(>.]\s?)end of (?:the |retrieved |stored )?(?:context|prompt|notes|data|memor\w+"
        r"|document|input"
        r"|instructions?|conversation|user input|transcript)\b(?=\s*(?:[.\]\-=*#:>)]|$))",
    ),
    Phrase(
        MARKUP,
        ("your real", "your actual", "your true"),
        r"\byour (?:real|actual|true) (?:task|job|instructions?|goal|purpose|assignment)\b",
    ),
    # What words do not show: places outside, an address with something to fill in, a script run as it comes in,
    # remarks beside the text, an AI called at the start of a sentence.
    Phrase(
        DISCLOSURE,
        ("://", "@", "public ", "hook"),
        r"https?://|[\w.+-]{1,40}@[\w-]{1,40}\.\w|\bpublic (?:gist|page|paste|repo|channel)|\bweb ?hook",
        1.0,
    ),
    Phrase(
        DISCLOSURE,
        ("://", "curl", "wget"),
        r"https?://[^\s?]{1,200}\?(?:[^\s=]{1,40}=[^\s&]{0,40}&){0,8}\w{1,20}=(?:[{<.)]|%7b|\s|$|secret|memory|conversation"
        r"|data\b)|\b(?:curl|wget)\b[^\n|]{0,120}\| ?(?:sudo )?(?:ba|z)?sh\b",
        1.75,
    ),
    Phrase(
        MARKUP,
        ("<!--", "[", "(", "{{"),
        r"<!--|\[comment\]|\[//\]|\((?:hidden|secret|if you|ai|attention|note to|in case)\b"
        r"|\[(?:ai|llm|assistant|hidden)\b"
        r"|\{\{",
        1.5,
    ),
    Phrase(
        ADDRESS,
        ("ai", "assistant", "model", "llm", "bot", "agent"),
        r"(?:^|[.!?\n(\[*] ?)(?:(?:merge|review|triage|reviewer|support|coding) )?"
        r"(?:ai|assistant|model|llm|bot|agent)s? ?[,:!]",
        1.75,
    ),
)
