"""Sets the command of an unpacked image, and takes its terminal and its privileges away.

    python3 packaging/bundle.py CONFIG.json ARGUMENT...
"""

import json
import sys
from pathlib import Path


def main() -> None:
    """Rewrites the description that crun starts a container from."""
    file = Path(sys.argv[1])
    config = json.loads(file.read_text())
    process = config["process"]
    process["terminal"] = False
    process["args"] = ["/memgauge", *sys.argv[2:]]
    process["user"] = {"uid": 12345, "gid": 12345}
    process["noNewPrivileges"] = True
    process["capabilities"] = {}
    file.write_text(json.dumps(config))


if __name__ == "__main__":
    main()
