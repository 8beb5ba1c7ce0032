"""What a password is called in other languages, and how they say what it is."""

# other alphabets are meant

from __future__ import annotations

import re

# Written with plain letters alone; their hints are looked for in every text.
_PLAIN = r"senha|wachtwoord|mdp|clave|heslo|parola|passord"
# With other letters among the plain ones.
_MARKED = r"hasło|lösenord|lozinka|şifre|jelszó|mật khẩu|aðgangsorð|contraseñas?|slaptažodis|parool"
_OTHER_SCRIPTS = (
    r"密码|密碼|密钥|口令|パスワード|暗証番号|пароль|парола|비밀번호|암호|كلمة المرور|كلمة السر|סיסמ[אה]|κωδικός"
    r"|कूटशब्द|पासवर्ड|รหัสผ่าน"
)
NAME = rf"(?:{_PLAIN}|{_MARKED})(?![^\W_])|{_OTHER_SCRIPTS}"

# As they stand in a text in which each character beyond ASCII has become a question mark.
HINTS = ("senha", "wachtwoord")
# Less common, and looked for only where a sign may stand after them.
HINTS_WITH_SIGN = ("mdp", "clave", "heslo", "parola", "segret")
MARKED_HINTS = ("has?o", "l?senord", "?ifre", "jelsz?", "m?t kh?u", "schl?ssel", "secr?te")
SCRIPT_HINTS = (
    "密码", "密碼", "密钥", "口令", "パスワード", "暗証番号", "пароль", "Пароль", "парола", "비밀번호", "암호",
    "كلمة", "סיסמ", "κωδικ", "Κωδικ", "कूटशब्द", "पासवर्ड", "รหัสผ่าน",
)  # fmt: skip

# A few words that say whose it is, then a sign or a verb.
LINK = re.compile(
    r"(?:[ \t]{1,3}[^\W\d_][\w.@'\u2019-]{0,29}){0,6}?"
    r"(?:[ \t]{0,4}(?:=>|->|[:=\uff1a\uff1d\u2192\u2014\u2013]|は|是|为|為|는|은|が)"
    r"|[ \t]{1,4}(?:es|est|é|è|ist|lautet|is|to|on|är|er|je|jest|это|là|adalah|e)(?=[ \t]))"
    r"[ \t]{0,4}[*「『“„«]{0,2}[ \t]?",
    re.IGNORECASE,
)
