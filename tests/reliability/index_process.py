"""A process that writes, embeds, searches and keeps its index in a file until it is killed; notes what it is told."""

import os
import sys
from itertools import count
from pathlib import Path

import mycel.stores.sqlite.index_keeper as index_keeper
from tests.reliability.member_process import SYNONYMS
from tests.squad import open_squad, wide_embedder

# So few memories and changes would otherwise not be worth a file.
index_keeper.WORTH_A_FILE, index_keeper.WORTH_SAVING, index_keeper.WORTH_SAVING_SHARE = 10, 1, 0.0


def main(data: str, notes: str) -> None:
    squad = open_squad(Path(data), embedder=wide_embedder(*SYNONYMS))
    handle = os.open(notes, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    with squad.workspace:
        for round in count():
            texts = [f"downtime {os.getpid()} {round} {at} at night" for at in range(8)]
            saved = squad.author.save_many([{"content": text} for text in texts])
            word = f"vanishing{os.getpid()}x{round}end"
            secret = squad.author.save(f"{word} automobile", tags=[word], category=word, key=word)
            squad.workspace.run_pending()
            squad.teammate.search("outage")
            squad.author.update(saved[0].id, content=f"wages {os.getpid()} {round}")
            squad.lead.purge(secret.id)
            os.write(handle, f"{saved[0].id} {word}\n".encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
