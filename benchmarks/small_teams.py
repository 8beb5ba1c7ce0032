"""Answers in teams of 2, 10, 40 and 300 notes: which are kept, how much padding stays, what is found off the topic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from random import Random

from benchmarks.finding_quality import DATA, Question, Task, model_of, save
from benchmarks.kept_vectors import KeptVectors
from benchmarks.report import show_rows
from mycel.app import open_workspace
from mycel.contracts.embedder import Embedder
from mycel.domain.ids import MemoryId

FOLDER = DATA / "small_teams"
# `dev` and `held` were tuned on, `fresh` is only counted.
DEV, HELD, FRESH = "dev", "held", "fresh"
SIZES = (2, 10, 40, 300)
# An answer that ranks behind this many others is lost by the order, not by its relevance.
FIRST = 5
TOP = 10
PLAIN, OTHER_WORDS, NEAR, OFF_TOPIC = "plain", "other words", "near", "off topic"
# Of the questions whose notes a team of two does not have.
NEAR_ASKED = 4


@dataclass(frozen=True, slots=True)
class World:
    """One team with its questions, in one language."""

    name: str
    size: int
    language: str
    task: Task


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one question got. `is_first` says whether the answer ranks among the first before anything is left out."""

    size: int
    language: str
    kind: str
    answered: bool = False
    is_first: bool = False
    padding: int = 0


def run(folder: Path, *, quick: bool, model: Path | None, cache: Path | None) -> None:
    embedder = KeptVectors(model_of(model), folder=cache)
    for half in (DEV,) if quick else (DEV, HELD, FRESH):
        for way, used in (("words + meaning", embedder), ("words", None)):
            outcomes = [
                outcome
                for number, world in enumerate(worlds(half))
                for outcome in ask(folder / f"{half}-{way.replace(' ', '')}-{number}", world, used)
            ]
            show_rows(f"Small teams, {half}, {way}", *_table(outcomes))


def worlds(half: str) -> Iterator[World]:
    """A team of each size for every domain; of two notes five, so that each note of a domain is in one."""
    for path in sorted(FOLDER.glob(f"{half}_*.tsv")):
        language = path.stem[-2:]
        rows = [line.split("\t") for line in path.read_text("utf-8").splitlines()[1:]]
        off_topic = _off_topic(half, language)
        for size in SIZES:
            for first in range(0, len(rows), size) if size < len(rows) else (0,):
                own = range(first, min(first + size, len(rows)))
                filled = routine_notes(half, language, count=size - len(own))
                texts = {f"n{at}": rows[at][0] for at in own} | {f"r{at}": text for at, text in enumerate(filled)}
                questions = [*_asked(rows, own), *off_topic[:: 1 if size > 2 else 2]]
                yield World(path.stem, size, language, _task(path.stem, texts, questions))


def ask(folder: Path, world: World, embedder: Embedder | None) -> Iterator[Outcome]:
    with open_workspace(folder, embedder=embedder) as workspace:
        memory = workspace.as_member("swe-1", may_be_new=True)
        given = save(memory, world.task)
        workspace.run_pending()
        for question in world.task.questions:
            shown = [given[hit.memory.id] for hit in memory.search(question.text, limit=TOP).hits]
            first = memory.search(question.text, limit=FIRST, min_relevance=0).hits
            yield Outcome(
                world.size,
                world.language,
                question.category,
                answered=not question.gold.isdisjoint(shown),
                is_first=not question.gold.isdisjoint(given[MemoryId(hit.memory.id)] for hit in first),
                padding=sum(id not in question.gold for id in shown),
            )


def routine_notes(half: str, language: str, *, count: int) -> list[str]:
    """What a team's tools write day by day, of which no question here asks."""
    forms, parts, places = _ROUTINE[half, language]
    every = [
        form.format(number=100 + 7 * at, part=part, place=place, minutes=3 + at % 48)
        for at, (form, part, place) in enumerate(product(forms, parts, places))
    ]
    Random(count).shuffle(every)
    return every[:count]


def _asked(rows: Sequence[Sequence[str]], own: range) -> Iterator[Question]:
    for at in own:
        yield Question(rows[at][1], "/", frozenset({f"n{at}"}), PLAIN)
        yield Question(rows[at][2], "/", frozenset({f"n{at}"}), OTHER_WORDS)
    others = [at for at in range(len(rows)) if at not in own]
    for at in others[:NEAR_ASKED]:
        yield Question(rows[at][1], "/", frozenset(), NEAR)


def _off_topic(half: str, language: str) -> list[Question]:
    rows = [line.split("\t") for line in (FOLDER / "offtopic.tsv").read_text("utf-8").splitlines()[1:]]
    return [
        Question(text, "/", frozenset(), OFF_TOPIC) for of, tongue, text in rows if (of, tongue) == (half, language)
    ]


def _task(name: str, texts: dict[str, str], questions: Iterable[Question]) -> Task:
    """Each note in a folder of its own: they were not written one after another, and are no neighbours."""
    return Task(name, {id: (f"/{id}", "/", text) for id, text in texts.items()}, list(questions))


def _table(outcomes: Sequence[Outcome]) -> tuple[list[str], list[list[str]]]:
    sizes, languages = sorted({one.size for one in outcomes}), sorted({one.language for one in outcomes})
    groups = [(f"{size} notes", [one for one in outcomes if one.size == size]) for size in sizes]
    groups += [(tongue, [one for one in outcomes if one.language == tongue]) for tongue in languages]
    rows = [[name, *_figures(chosen)] for name, chosen in (*groups, ("all", list(outcomes)))]
    header = ["", "plain kept", "other words kept", "padding for each", "near: empty", "off topic: empty"]
    return header, rows


def _figures(outcomes: Sequence[Outcome]) -> list[str]:
    def kept(kind: str) -> str:
        asked = [one for one in outcomes if one.kind == kind]
        first = [one for one in asked if one.is_first]
        return f"{sum(one.answered for one in first)}/{len(first)} of {len(asked)}"

    def empty(kind: str) -> str:
        asked = [one for one in outcomes if one.kind == kind]
        return f"{sum(not one.padding for one in asked)}/{len(asked)}"

    answerable = [one for one in outcomes if one.kind in (PLAIN, OTHER_WORDS)]
    padding = sum(one.padding for one in answerable) / max(1, len(answerable))
    return [kept(PLAIN), kept(OTHER_WORDS), f"{padding:.2f}", empty(NEAR), empty(OFF_TOPIC)]


_PARTS = {
    "en": ("parser", "mailer", "importer", "gateway", "ledger", "uploader", "crawler", "renderer"),
    "de": ("Parser", "Mailversand", "Import", "Gateway", "Hauptbuch", "Upload", "Suchdienst", "Drucker-Treiber"),
    "es": ("analizador", "correo", "importador", "pasarela", "registro", "cargador", "rastreador", "visor"),
}
_PLACES = {
    "en": ("north", "south", "east", "west", "main", "branch-2"),
    "de": ("Nord", "Süd", "Ost", "West", "Haupt", "Zweig-2"),
    "es": ("norte", "sur", "este", "oeste", "principal", "rama-2"),
}
_FORMS = {
    (DEV, "en"): (
        "Build {number} of {part} on {place}: green after {minutes} minutes, no warnings.",
        "Build {number} of {part} on {place} failed: a test timed out, passed when it was run again.",
        "Stand-up {place}: {part} moved on, ticket {number} is in review.",
        "Bumped the dependencies of {part}, changelog of run {number} attached.",
        "Lint run {number} found {minutes} findings in {part}, all of them fixed on {place}.",
        "Coverage of {part} after run {number}: {minutes} percent on {place}.",
        "Merged pull request {number} into {place}, touches {part} alone.",
    ),
    (HELD, "en"): (
        "Nightly job {number} for {part} in {place} finished, took {minutes} min.",
        "Ticket {number}: customer in {place} asks about {part}, answered and closed.",
        "Weekly sync {place}, item {number}: {part} needs another reviewer.",
        "Restarted {part} in {place} after alarm {number}, quiet since.",
        "Inventory {number}: {minutes} units of {part} counted in {place}.",
        "Rotated the logs of {part} in {place}, {number} MB freed.",
        "Sprint {number} closed with {minutes} points, {part} carried over to {place}.",
    ),
    (DEV, "de"): (
        "Build {number} von {part} auf {place}: grün nach {minutes} Minuten.",
        "Build {number} von {part} auf {place} rot, ein Test lief in die Zeitgrenze.",
        "Abgleich {place}: {part} kommt voran, Ticket {number} wird geprüft.",
        "Abhängigkeiten von {part} erneuert, Lauf {number} angehängt.",
        "Abdeckung von {part} nach Lauf {number}: {minutes} Prozent auf {place}.",
        "Änderung {number} in {place} übernommen, betrifft nur {part}.",
        "Protokoll {number}: {part} auf {place} neu gestartet.",
    ),
    (HELD, "de"): (
        "Nachtlauf {number} für {part} in {place} fertig, {minutes} Minuten.",
        "Vorgang {number}: Rückfrage aus {place} zu {part}, erledigt.",
        "Wochenrunde {place}, Punkt {number}: {part} braucht noch eine Prüfung.",
        "{part} in {place} nach Alarm {number} neu gestartet, seither ruhig.",
        "Bestand {number}: {minutes} Stück {part} in {place} gezählt.",
        "Protokolle von {part} in {place} gekürzt, {number} MB frei.",
        "Abschnitt {number} mit {minutes} Punkten beendet, {part} bleibt offen.",
    ),
    (DEV, "es"): (
        "Compilación {number} de {part} en {place}: correcta tras {minutes} minutos.",
        "Compilación {number} de {part} en {place} fallida, una prueba agotó el tiempo.",
        "Reunión {place}: {part} avanza, el ticket {number} está en revisión.",
        "Dependencias de {part} actualizadas, registro {number} adjunto.",
        "Cobertura de {part} tras la ejecución {number}: {minutes} por ciento.",
        "Cambio {number} integrado en {place}, solo toca {part}.",
        "Informe {number}: {part} reiniciado en {place}.",
    ),
    (HELD, "es"): (
        "Tarea nocturna {number} de {part} en {place} terminada, {minutes} minutos.",
        "Consulta {number}: cliente de {place} pregunta por {part}, cerrada.",
        "Repaso semanal {place}, punto {number}: {part} necesita otro revisor.",
        "Reiniciado {part} en {place} tras la alarma {number}, sin novedades.",
        "Inventario {number}: {minutes} unidades de {part} contadas en {place}.",
        "Registros de {part} en {place} recortados, {number} MB libres.",
        "Etapa {number} cerrada con {minutes} puntos, {part} sigue abierto.",
    ),
    (FRESH, "en"): (
        "Backup {number} of {part} in {place} written, checked in {minutes} minutes.",
        "Alert {number} for {part}: memory high in {place}, gone by itself.",
        "Review {number}: naming in {part} tidied up, no change of behaviour.",
        "Handover {place}, page {number}: nothing open for {part}.",
        "Released {part} 4.{minutes} to {place}, change {number}.",
        "Flaky check {number} of {part} muted in {place} for {minutes} days.",
        "Measured {part} in {place}: {minutes} ms in the middle, sample {number}.",
    ),
    (FRESH, "de"): (
        "Sicherung {number} von {part} in {place} geschrieben und in {minutes} Minuten geprüft.",
        "Warnung {number} zu {part}: Speicher knapp in {place}, von selbst vorbei.",
        "Durchsicht {number}: Namen in {part} aufgeräumt, Verhalten gleich.",
        "Übergabe {place}, Blatt {number}: bei {part} ist nichts offen.",
        "{part} 4.{minutes} nach {place} ausgeliefert, Änderung {number}.",
        "Wackelige Prüfung {number} von {part} in {place} für {minutes} Tage stumm.",
        "{part} in {place} gemessen: {minutes} ms im Mittel, Probe {number}.",
    ),
    (FRESH, "es"): (
        "Copia {number} de {part} en {place} escrita y comprobada en {minutes} minutos.",
        "Aviso {number} de {part}: memoria alta en {place}, pasó sin más.",
        "Revisión {number}: nombres de {part} ordenados, sin cambios de conducta.",
        "Relevo {place}, hoja {number}: nada pendiente en {part}.",
        "Publicado {part} 4.{minutes} en {place}, cambio {number}.",
        "Prueba inestable {number} de {part} silenciada en {place} por {minutes} días.",
        "Medido {part} en {place}: {minutes} ms de media, muestra {number}.",
    ),
}
_ROUTINE = {(half, tongue): (_FORMS[half, tongue], _PARTS[tongue], _PLACES[tongue]) for half, tongue in _FORMS}
