"""Phrases that give an attack away in other languages than English."""

from __future__ import annotations

from mycel.engine.poison.lexicon import ADDRESS, CONCEALMENT, OVERRIDE, PERSONA, Phrase

_NEAR = r"[^.!?\n]{0,40}?"

PHRASES: tuple[Phrase, ...] = (
    # German and Dutch
    Phrase(
        OVERRIDE,
        ("ignorier", "vergiss", "vergesst", "missacht", "negeer", "vergeet"),
        rf"\b(?:ignorier\w*|vergiss|vergesst|missachte\w*|negeer|vergeet)\b{_NEAR}(?:anweisung|instru[ck]t|\bregel"
        rf"|vorgabe|befehl"
        r"|richtlinie|aanwijzing|erinnerung)",
    ),
    Phrase(
        OVERRIDE,
        ("beachte", "befolge"),
        rf"\b(?:beachte|befolge)\w*\b{_NEAR}(?:bisherig|vorherig|obig|früher)\w*{_NEAR}\bnicht\b",
    ),
    Phrase(
        ADDRESS,
        ("wenn du", "sobald du", "falls du", "wenn sie"),
        r"\b(?:wenn|sobald|falls) (?:du|sie) (?:dies\w*(?: \w+)?|das|diese notiz) (?:liest|lesen|siehst|lädst"
        r"|verarbeitest)\b"
        r"|\b(?:wenn|falls) (?:du|sie) (?:eine? )?(?:ki|sprachmodell|assistent)\b",
    ),
    Phrase(
        CONCEALMENT,
        ("nutzer",),
        rf"\b(?:sag|verrate|verrat|erzähl|erwähn|teil)\w*\b{_NEAR}\b(?:dem|der"
        rf"|den) (?:be)?nutzer\w*\b{_NEAR}\b(?:nicht|nichts)\b",
    ),
    Phrase(PERSONA, ("du bist",), r"\bdu bist (?:jetzt|nun|ab sofort|nicht mehr|nicht länger)\b"),
    # French
    Phrase(
        OVERRIDE,
        ("ignore", "oubli", "compte"),
        rf"\b(?:ignore[zrs]?|oublie[zrs]?|ne (?:tiens|tenez) (?:pas|plus) compte)\b{_NEAR}(?:instructions"
        rf"|consignes?|règles"
        r"|directives)\b",
    ),
    Phrase(
        ADDRESS,
        ("lis", "tu es", "vous êtes"),
        r"\b(?:quand|lorsque|si) (?:tu|vous) (?:lis|lisez) (?:ceci|cette|ce)\b|\bsi (?:tu es|vous êtes) une? (?:ia"
        r"|modèle|assistant)",
    ),
    Phrase(
        CONCEALMENT,
        ("l'utilisateur",),
        rf"\bne\b{_NEAR}\b(?:dis|dites|mentionne|parle|informe|révèle)\w*\b{_NEAR}l'utilisateur\b",
    ),
    Phrase(PERSONA, ("tu es", "vous êtes"), r"\b(?:tu es|vous êtes) (?:maintenant|désormais)\b"),
    # Spanish, Portuguese and Italian
    Phrase(
        OVERRIDE,
        ("ignor", "olvid", "esque", "desconsider", "dimentic", "caso omiso"),
        rf"\b(?:ignor[ae]\w*|olvid[ae]\w*|esqueça\w*|desconsider\w+|dimentica\w*"
        rf"|haz caso omiso)\b{_NEAR}\b(?:instruc|instruç"
        r"|istruzion|reglas|regras|regole|órdenes|indicaciones)",
    ),
    Phrase(
        ADDRESS,
        ("leas", "leggi", "eres", "se sei", "você"),
        r"\b(?:cuando|quando|si|se) (?:leas|lees|leggi|ler) (?:esto|esta|este|questo|questa|isto)\b"
        r"|\b(?:si eres|se sei|se você é) (?:una?|uma?) (?:ia|modelo|modello|asistente|assistente)",
    ),
    Phrase(
        CONCEALMENT,
        ("al usuario", "ao usu", "all'utente"),
        rf"\b(?:no|não|non)\b{_NEAR}\b(?:digas|diga|menciones|mencione|informes|informe|dire|cuentes|conte"
        rf"|reveles)\b{_NEAR}"
        r"(?:al usuario|ao usuário|all'utente)",
    ),
    Phrase(
        PERSONA, ("ahora eres", "agora voc", "ora sei"), r"\b(?:ahora eres|agora você é|ora sei) (?:una?|uma?|el|o)\b"
    ),
    # Russian and Polish
    Phrase(
        OVERRIDE,
        ("игнор", "забуд", "ignoruj", "zapomnij"),
        rf"\b(?:игнорир|забуд|z?ignoruj|zapomnij)\w*{_NEAR}\b(?:инструкц|правил|указан"
        r"|instrukc|polece|zasad)",
    ),
    Phrase(PERSONA, ("ты ",), r"\bты (?:теперь|больше не) \w"),
    Phrase(CONCEALMENT, ("пользователю",), rf"\bне (?:говори|сообщай){_NEAR}пользователю"),  # noqa: RUF001  # meant to be Cyrillic
    # Chinese, Japanese and Korean, which do not divide words
    Phrase(
        OVERRIDE,
        ("忽略", "无视", "忘记", "忘掉", "無視"),
        r"(?:忽略|无视|忘记|忘掉|無視)[^。\n]{0,16}(?:指令|指示|规则|規則|提示|记忆)",
    ),
    Phrase(
        OVERRIDE,
        ("無視", "忘れ", "무시"),
        r"(?:指示|命令|ルール|プロンプト)[^。\n]{0,12}(?:無視|忘れ)|(?:지시|명령|지침)[^\n]{0,12}무시",
    ),
    Phrase(CONCEALMENT, ("用户",), r"不要?(?:告诉|向|让)[^。\n]{0,6}用户"),
    Phrase(
        ADDRESS,
        ("当你", "如果你是"),
        r"当你(?:读|看)到?(?:这|此)|如果你是(?:ai|人工智能|语言模型|助手|一个)",
    ),
    Phrase(PERSONA, ("你现在是", "从现在"), r"你现在是|从现在(?:起|开始)[^。\n]{0,4}你"),
)
