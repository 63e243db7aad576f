"""Counts the hits of one USDT probe of one process, by nothing, by class, or by class and method:
bcc_count.py PID PROVIDER:PROBE nothing|class|method. Prints READY, and at SIGINT what it counted, as JSON."""

import json
import signal
import sys

from bcc import BPF, USDT

# In counters: hits that were not counted by name, because an argument could not be read or the map was full.
HEAD = """
struct name { char first[128]; char second[128]; };
BPF_HASH(hits, struct name, u64, 65536);
BPF_ARRAY(missed, u64, 1);

static inline void miss(void) {
    int zero = 0;
    u64 *count = missed.lookup(&zero);
    if (count) lock_xadd(count, 1);
}

int hit(struct pt_regs *ctx) {
    struct name name = {};
    u64 zero = 0;
"""

TEXT = """
    {
        u64 text = 0;
        int length = 0;
        if (bpf_usdt_readarg(%(pointer)d, ctx, &text) || bpf_usdt_readarg(%(length)d, ctx, &length)) { miss(); return 0; }
        u64 bounded = length;
        // The verifier must see the bound in the register that is passed.
        asm volatile("if %%0 < 128 goto +1; %%0 = 127" : "+r"(bounded));
        if (bpf_probe_read_user(&name.%(field)s, bounded, (void *)text)) { miss(); return 0; }
    }
"""

TAIL = """
    u64 *count = hits.lookup_or_try_init(&name, &zero);
    if (count) lock_xadd(count, 1); else miss();
    return 0;
}
"""

SINGLE = """
BPF_PERCPU_ARRAY(hits, u64, 1);
int hit(struct pt_regs *ctx) { hits.increment(0); return 0; }
"""


def program(by):
    if by == "nothing":
        return SINGLE
    texts = TEXT % {"pointer": 2, "length": 3, "field": "first"}
    if by == "method":
        texts += TEXT % {"pointer": 4, "length": 5, "field": "second"}
    return HEAD + texts + TAIL


def counted(bpf, by):
    if by == "nothing":
        return {"hits": {"": bpf["hits"].sum(0).value}, "missed": 0}
    hits = {}
    for name, count in bpf["hits"].items():
        words = [name.first, name.second] if by == "method" else [name.first]
        key = ",".join(word.decode("utf-8", "replace") for word in words)
        hits[key] = hits.get(key, 0) + count.value
    return {"hits": hits, "missed": bpf["missed"][0].value}


def main():
    pid, probe, by = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    # Blocked and waited for: a handler could run just before the wait begins, which would then last for ever.
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    usdt = USDT(pid=pid)
    usdt.enable_probe(probe=probe, fn_name="hit")
    bpf = BPF(text=program(by), usdt_contexts=[usdt])
    print("READY", flush=True)
    signal.sigwait([signal.SIGINT])
    print(json.dumps(counted(bpf, by)), flush=True)


main()
