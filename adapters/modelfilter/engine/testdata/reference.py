"""The rules written down on Python's own fnmatch, with nothing to make them fast.

Each line of standard input is a case as `winnow rules test --json` takes it;
each line of standard output is the answer, without the reasons of refusals.
"""

import fnmatch
import json
import sys


def writable(kind, patterns, refused):
    kept = []
    for given in patterns:
        pattern = given.strip()
        unwritable = any(part in pattern for part in (",", "\n", "\r", "${"))
        if not pattern or unwritable or pattern in kept:
            refused.append({"type": kind, "pattern": given})
        else:
            kept.append(pattern)
    return kept


def matches(pattern, model):
    short = model.split("/", 1)[-1]
    return fnmatch.fnmatchcase(short, pattern) or fnmatch.fnmatchcase(model, pattern)


def answer(case):
    refused = []
    lists = {
        "ignore": writable("ignore", case["ignore"], refused),
        "whitelist": writable("whitelist", case["whitelist"], refused),
    }
    counts = {(kind, pattern): 0 for kind in lists for pattern in lists[kind]}
    models = []
    for model in case["models"]:
        status, rule = "normal", ""
        first, slash, _ = model.partition("/")
        if not slash or first == case["provider"].lower():
            for kind, name in (("whitelist", "whitelisted"), ("ignore", "ignored")):
                found = [p for p in lists[kind] if matches(p, model)]
                if found:
                    status, rule = name, found[0]
                    counts[kind, rule] += 1
                    break
        models.append({"id": model, "status": status, "rule": rule})
    return {
        "models": models,
        "rules": [
            {"type": kind, "pattern": pattern, "affected_count": n}
            for (kind, pattern), n in counts.items()
        ],
        "available": sum(m["status"] != "ignored" for m in models),
        "total": len(models),
        "refused": refused,
    }


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))))
