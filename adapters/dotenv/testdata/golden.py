"""Writes golden.json: what python-dotenv 1.2.2 reads in files, with REAL=world
in the environment. Run it in this folder: python3 golden.py"""
import base64, json, os, random, tempfile
from dotenv.main import resolve_variables
from dotenv.parser import parse_stream
from dotenv.version import __version__

assert __version__ == "1.2.2"
hand = [
    b"", b"\n", b"  \n", b"A=1", b"A=1\n", b"A=1\r\nB=2\r\n", b"A=1\rB=2\r", b"\r\n\r\nA=1\n",
    b"\xef\xbb\xbfA=1\nB=2\n", b"\xef\xbb\xbf# c\nA=1\n", b"\xef\xbb\xbf", b"A=1\nA=2\n", b"A=1\nA\n", b"A\nA=1\n",
    b"export A=1\n", b"export\tA='x'\n", b"export\n", b"export \n", b"export =1\n", b"export # c\n", b"exportA=1\n",
    b"export export=1\n", b"export 'A'=1", b"A = 1 \n", b"  A=1\n", b"A= \n", b"A=\n", b"A=  # c\n", b"A=#c\n",
    b"A=x#c\n", b"A=x #c # d\n", b"A=x\t#c\n", b"A='x'#c\n", b"A='x' # c\n", b"A='x' y\n", b"A='x'y\nB=1\n",
    b"A=\"a b\"\n", b"A=\"a\\nb\\t\\\"\\\\\\'\\a\\b\\f\\r\\v\\x\"\n", b"A='a\\nb\\'\\\\'\n", b"A='a\nb'\nB=1\n",
    b"A=\"a\r\nb\"\r\nB=1\r\n", b"A='a\n\n# no comment\nb' # c\n", b"A='x\nB=1\n", b"A=\"x\nB='1'\nC=\"2\"\nD=3\n",
    b"A='x\\'\nB=1\n", b"A='x\\'\nB='1'\n", b"A='\\\\'\nB=1\n", b"A='\\\\'\nB='2'\n", b"A='\\\\' # c'\n", b"A='''\n",
    b"A=''\n", b"A=\"\"\n", b"'A'=1\n", b"'A B'='1'\n", b"'A=B'=1\n", b"'A\nB'=1\n", b"'A\nB=1\n", b"''=1\n", b"\"A\"=1\n",
    b"=1\nA=1\n", b"A 1\nB=1\n", b"A # c\n", b"A#c\n", b"A.b-c/d=1\n", b"1A=1\n", b"A==1\n", b"A=b=c\n", b"# A=1\n",
    b"A=${REAL}\n", b"A=1\nB=${A}${A}\n", b"B=${A}\nA=1\n", b"A=1\nB=${A}\nA=2\n", b"A\nB=${A:-x}\n", b"B=${A:-x y}\n",
    b"B=${A:-}\n", b"B=${A:x}\n", b"B=${A:x}${REAL}\n", b"B=${A\n", b"B='${REAL}'\n", b"B=\"$${REAL}\"\n", b"B=$REAL\n",
    b"B=${}\n", b"B=${:-d}\n", b"B=${A:-${REAL}}\n", b"REAL=file\nB=${REAL}\n", b"B=\\${REAL}\n", b"B=${A:-a:b}\n",
    b"A=\x00\n", b"A=x\x0b# c\n", b"A=x\x1c# c\n", b"A\x0c=1\n", b"A=x\xc2\xa0#c\n", b"A=x\xe2\x80\xa8#c\n", b"A=\xc2\x85x\n",
    b"A=x\xe2\x80\xa9\nB=1\n", b"\xe2\x80\x83A=1\n", b"A=\xe2\x80\xaex\n", b"A='\xf0\x9f\x98\x80'\n", b"A=\xff\n", b"A=\xed\xa0\x80\n",
    b"A=1\n\n\n", b"A=1\n   ", b"A=1\n# c", b"IGNORE_MODELS_OPENAI='*-preview*,gpt-3.5*'\nWHITELIST_MODELS_OPENAI=gpt-4o\n",
    b"IGNORE_MODELS_OPENAI=*[!a]?#x\n",
]
rnd = random.Random(20)
parts = ["A", "B", "export ", "export", "=", "=", "'", "'", '"', '"', "\\", "#", " #", " ", "\t", "\n", "\n", "\r\n", "\r",
         "x", "${A}", "${", "}", ":-", "${REAL}", "\\'", '\\"', "\\n", "\\\\", "\x0b", "\x1d", "\u00a0", "\u2028", "\ufeff", "é", ","]
cases = hand + ["".join(rnd.choice(parts) for _ in range(rnd.randint(1, 24))).encode() for _ in range(1200)]
out = []
with tempfile.TemporaryDirectory() as folder:
    for case in cases:
        path = os.path.join(folder, "f")
        with open(path, "wb") as f:
            f.write(case)
        entry = {"file": base64.b64encode(case).decode()}
        try:
            with open(path, encoding="utf-8") as f:
                found = list(parse_stream(f))
            pairs = [(b.key, b.value) for b in found if b.key is not None]
            os.environ.clear()
            os.environ["REAL"] = "world"
            entry["bindings"] = [[b.key, b.value, b.error] for b in found]
            entry["values"] = dict(resolve_variables(pairs, override=False))
        except UnicodeDecodeError:
            entry["undecodable"] = True
        out.append(entry)
with open("golden.json", "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(e) for e in out) + "\n]\n")
