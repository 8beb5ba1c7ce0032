"""Recognise whether a text is English, the language that the rules and the trained judge were made for."""

from __future__ import annotations

import re
import unicodedata
from enum import Enum
from functools import lru_cache

from mycel.engine.english import word_set
from mycel.engine.english.verbs import known_verbs, stem
from mycel.engine.english.vocabulary import function_words

# A text of so many characters says what language it is in.
MOST_CHARS = 1200
# A name or a quoted word in another script makes no text foreign.
MOST_OTHER_SCRIPT = 0.3

# By itself: what is joined to a sign or a digit is a name, such as en-US or swe-1.
_WORD = re.compile(r"(?<![\w/.@#-])[^\W\d_]+(?:['\u2019][^\W\d_]+)?(?![\w/@#-])")


class Familiarity(Enum):
    """How well the rules can read a text."""

    ENGLISH = "english"
    UNKNOWN = "unknown"
    FOREIGN = "foreign"


@lru_cache(maxsize=4096)
def familiarity(text: str) -> Familiarity:
    """Say whether a text is English, by its small words and its letters.

    A text without small words, such as a list of names, is neither English nor foreign.
    """
    text = unicodedata.normalize("NFC", text[:MOST_CHARS])
    letters = [sign for sign in text if sign.isalpha()]
    if not letters:
        return Familiarity.UNKNOWN
    if sum(not _is_latin(sign) for sign in letters) > MOST_OTHER_SCRIPT * len(letters):
        return Familiarity.FOREIGN
    # CI and DE are abbreviations in any language.
    written = [word for word in _WORD.findall(text) if len(word) == 1 or not word.isupper()]
    words = [word.casefold().replace("\u2019", "'") for word in written]
    english = sum(word in ENGLISH_ONLY or word.endswith(_ENGLISH_ENDINGS) for word in words)
    foreign = sum(word in FOREIGN_ONLY or word.startswith(_ELIDED) for word in words)
    if english > foreign or (english == foreign and not _SURELY_ENGLISH.isdisjoint(words)):
        return Familiarity.ENGLISH
    if foreign or any(not sign.isascii() for sign in letters):
        return Familiarity.FOREIGN
    is_english = any(word in _RATHER_ENGLISH or stem(word) in known_verbs() for word in words)
    return Familiarity.ENGLISH if is_english else Familiarity.UNKNOWN


def is_small_word(word: str) -> bool:
    """Whether a word of another language joins others and says nothing itself; no negation is one."""
    return word in _FOREIGN and word not in NEGATIONS


def is_negation(word: str) -> bool:
    return word in NEGATIONS


def _is_latin(sign: str) -> bool:
    return sign.isascii() or sign < "\u0250" or "\u1e00" <= sign <= "\u1eff"


# French and Italian: l'équipe, d'abord, qu'on, dell'ordine.
_ELIDED = ("l'", "d'", "qu'", "j'", "n'", "c'", "s'", "dell'", "all'", "nell'", "un'")
_ENGLISH_ENDINGS = ("n't", "'re", "'ve", "'ll")

_GERMAN = """
der das den dem des ein eine einen einem einer eines und oder aber sondern denn nicht kein keine keinen keinem keiner
ist sind waren wird werden wurde wurden worden sein hatte haben habe hatten kann können konnte muss müssen musste soll
sollen sollte darf dürfen mag möchte will wollen ich du er sie es wir ihr uns euch mich dich sich mein dein unser unsere
unserem unseren unserer ihre ihren ihrem seine seinen im am zum zur vom beim ins ans auf aus bei mit nach von vor zu
zwischen unter über gegen ohne durch für um bis seit während wegen trotz wenn weil dass ob als wie wo wer wen wem was
warum wann welche welcher welches dieser diese dieses diesem diesen jeder jede jedes jeden jedem alle allen immer nie
niemals nur auch noch schon erst sehr mehr weniger hier dort heute morgen gestern montags dienstags mittwochs
donnerstags freitags samstags sonntags montag dienstag mittwoch donnerstag freitag samstag sonntag uhr ab sofort liegt
steht gibt läuft kommt geht macht bleibt gilt heißt kostet braucht nimmt neue neuen neuer neues nach dann doch vorher
nachher täglich wöchentlich monatlich jährlich pro woche tag tage jahr jahre stunden minuten einmal zweimal
"""
_SPANISH = """
el los las una unos unas y o pero sino porque que qué del al en con sin sobre hasta desde entre para por según hacia es
son era eran fue fueron ser está están estaba hay tiene tienen tenía hace hacen debe deben puede pueden nunca siempre
también solo sólo ya muy más menos este esta estos estas ese esa eso aquel cada todo toda todos todas otro otra su sus
nuestro nuestra nuestros nuestras mi tu se lo le les nos cuando donde como quien cuál si antes después durante lunes
martes miércoles jueves viernes sábado sábados domingo domingos día días semana mes año años hora horas minutos euros
cliente clientes equipo lleva usa usamos cierra abre va van
"""
_PORTUGUESE = """
os uma uns umas e ou mas porque que do da dos das no na nos nas ao à aos às em com sem sobre até desde entre para por
pelo pela pelos pelas é são era foi foram ser está estão há tem têm tinha faz fazem deve devem pode podem nunca sempre
também só já muito mais menos este esta estes estas esse essa isso aquele cada todo toda todos todas outro outra seu
sua seus suas nosso nossa nossos nossas meu minha se lhe quando onde como quem não nem antes depois durante
segunda terça quarta quinta sexta sábado domingo dia dias semana mês ano anos hora horas minutos cliente equipe equipa
"""
_FRENCH = """
le la les un une des du de au aux et ou mais donc car que qui quoi dont où ce cet cette ces dans en avec sans sous sur
chez vers pour par entre depuis jusque jusqu pendant avant après est sont était étaient sera seront être a ont avait
avoir fait font faut doit doivent peut peuvent ne pas jamais toujours aussi déjà très plus moins tout toute tous toutes
chaque autre autres même il elle ils elles nous vous je tu on se son sa ses notre nos votre vos leur leurs mon ma mes
quand comme si lundi mardi mercredi jeudi vendredi samedi dimanche jour jours semaine mois an ans année heure heures
y jamais rien personne aucun aucune
"""
_ITALIAN = """
il lo gli uno una di del dello della dei degli delle al allo alla ai agli alle dal dalla dai nel nella nei nelle sul
sulla sui con senza su fra tra per e o ma perché che chi cui è sono era erano essere ha hanno aveva avere fa fanno deve
devono può possono mai sempre anche solo già molto più meno questo questa questi queste quello quella ogni tutto tutta
tutti tutte altro altra suo sua suoi nostro nostra nostri nostre non si ci vi ne quando dove come se prima dopo durante
lunedì martedì mercoledì giovedì venerdì sabato domenica giorno giorni settimana mese anno anni ore minuti
"""
_DUTCH = """
het een en of maar niet geen zijn waren wordt worden werd werden heeft hebben had kan kunnen moet moeten mag zal zullen
ik jij hij zij wij ze ons onze hun mijn uw dit deze die dat op aan uit bij met naar van voor over onder tussen zonder
door om tot sinds als omdat wanneer waar wie wat hoe elke elk alle altijd nooit alleen ook nog al zeer meer minder hier
daar vandaag morgen maandag dinsdag woensdag donderdag vrijdag zaterdag zondag uur dag dagen jaar
"""
_NORDIC = """
och eller men inte ikke ej är är var blir ble har hade kan kunde ska skal skall må måste vi ni du jag jeg han hun hon
det den de ett en et som att att på med från fra till til av för för om mellan utan uten under över over efter etter
efter før innan alltid aldrig aldri bara bare även också også mycket meget mer mindre varje hver alla alle vår vårt
våra vores deres
"""
_SLAVIC = """
i w z na do od po przez dla bez pod nad przed nie są był była były być ma mają może muszą musi oraz lub ale że
który która które jak gdy tylko zawsze nigdy każdy wszystkie nasz nasza co się ve ze se na je jsou byl byla být má mají
může musí nebo ale že který která jako když vždy nikdy každý všechny náš naše jen po pro bez pod před
"""
_OTHERS = """
ve veya ama değil için ile bir bu şu her çok daha olarak olan var yok her zaman asla bizim
nem és vagy egy az ez hogy van volt kell minden mindig soha csak nagyon
ja tai mutta ei on ovat oli olivat pitää voi aina koskaan joka kaikki meidän
și sau dar nu este sunt era pentru din cu fără când mereu niciodată fiecare noastră
dan atau tetapi tidak adalah yang untuk dari dengan pada setiap selalu jangan kami kita
"""

# Small words that are written alike in English and in one of these languages say nothing.
_IN_BOTH = word_set(
    """
    a i an in on at so as am do no me be is or of to by was war will all over under hat die her his has had more he per
    plus once son con red are we us it this that had mine must man made fin come pan ten bare bar via pro name bad can
    fest tag elle van mai time sale total use uses pour chez sans dans sous comes euros minutes minute sur still just
    but such same near most
    """
)
_SURELY_ENGLISH = word_set("the and with this from which should our their")
_RATHER_ENGLISH = word_set("is are was has had by over")
# Names of places and of people carry these, in English texts too, and many texts of their languages little else.
_ALSO_IN_NAMES = word_set("de la le el los las del di da du der von van y des les")
_OTHER_LANGUAGES = (_GERMAN, _SPANISH, _PORTUGUESE, _FRENCH, _ITALIAN, _DUTCH, _NORDIC, _SLAVIC, _OTHERS)
_FOREIGN = word_set(" ".join(_OTHER_LANGUAGES))
ENGLISH_ONLY = function_words() - _IN_BOTH
FOREIGN_ONLY = (_FOREIGN - _IN_BOTH - ENGLISH_ONLY) | _ALSO_IN_NAMES

NEGATIONS = word_set(
    """
    nicht kein keine keinen keinem keiner keines nie niemals nirgends ohne nichts niemand weder
    no nunca jamás sin nada nadie ningún ninguna ninguno tampoco não sem nem ninguém nenhum nenhuma
    ne n pas jamais sans rien aucun aucune personne non mai senza nessun nessuno nessuna niente
    niet geen nooit zonder inte ikke ej aldrig aldri utan uten nie nigdy bez ne nikdy değil yok asla nem soha ei nu fără
    tidak jangan не нет ни никогда без нельзя никто ничего لا لم لن ليس ليست بدون غير دون
    """
)
