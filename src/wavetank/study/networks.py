"""Networks by name, and the notation in which a user states a network of their own.

    NAME | RATE[/RTT[/LOSS[/JITTER]]]  followed by any number of  /KEY=VALUE

`200mbit/35ms/0.05%/5ms`, `realistic/cc=bbr`, `1gbit/20ms/loss=ge:0.001:0.3/queue=2bdp`.
Trailing parts may be left out; `named_networks` holds the names. A network is a description only;
`lab/` builds it and checks what was built.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping

import msgspec

from wavetank import quantity
from wavetank.errors import UsageError
from wavetank.study.model import GilbertElliottLoss, IndependentLoss, Loss, Network, Queue, Tcp
from wavetank.study.named_networks import GROUPS, group, named

RATE_BIT_PER_S_MAX = 25 * 10**9
COALESCE_NS_LEAST, COALESCE_NS_MOST = 1000, 10**6
CONGESTION_CONTROLS = ("cubic", "bbr", "reno")
DISTRIBUTIONS = ("uniform", "normal", "pareto", "paretonormal")


def parse(text: str) -> Network:
    """The network that `text` names or states.

    Raises `UsageError` with one sentence: the nearest names, or what is wrong with a part.
    """
    head, *rest = [part.strip() for part in text.strip().split("/")]
    positional = [part for part in rest if "=" not in part]
    extras = [part for part in rest if "=" in part]
    try:
        base = _base(head, positional)
        network, labels = _with_extras(base, extras)
        _check(network)
    except UsageError as error:
        raise UsageError(f"network '{text}': {error}") from None
    return msgspec.structs.replace(network, name="/".join([base.name, *labels]))


def expand(text: str) -> list[Network]:
    """The networks of a group's name (`aws`, `sweep`, `nistnet`, `geo`), or the one network."""
    return group(text) if text in GROUPS else [parse(text)]


def loss_text(loss: Loss | None) -> str:
    """`0.1%`, or `ge:TO_BAD:TO_GOOD:LOSS_IN_BAD:LOSS_IN_GOOD` in fractions; reads back."""
    match loss:
        case None:
            return "0%"
        case IndependentLoss(probability=probability):
            return quantity.fraction_text(probability)
        case GilbertElliottLoss(to_bad=p, to_good=r, loss_in_bad=bad, loss_in_good=good):
            return ":".join(["ge", *(quantity.fraction_text(x) for x in (p, r, bad, good))])


def _base(head: str, positional: list[str]) -> Network:
    if head in named():
        if positional:
            raise UsageError(
                f"'{positional[0]}' after a name needs its key, for example {head}/rtt=20ms."
            )
        return named()[head]
    if not head[:1].isdigit():
        raise UsageError(_unknown(head))
    if len(positional) > 3:
        raise UsageError(f"'{positional[3]}' is one part too many after RATE/RTT/LOSS/JITTER.")
    network = Network(name="", rate_bit_per_s=quantity.parse_rate(head))
    for key, value in zip(("rtt", "loss", "jitter"), positional, strict=False):
        network = _EXTRAS[key](network, value)
    return msgspec.structs.replace(network, name=_inline_name(network, len(positional)))


def _inline_name(network: Network, parts: int) -> str:
    texts = [
        quantity.rate_text(network.rate_bit_per_s or 0),
        quantity.duration_text(network.rtt_ns),
        loss_text(network.loss),
        quantity.duration_text(network.jitter_ns),
    ]
    return "/".join(texts[: parts + 1])


def _unknown(name: str) -> str:
    near = difflib.get_close_matches(name, [*named(), *GROUPS], n=3, cutoff=0.5)
    meant = f"did you mean {' or '.join(near)}?" if near else "see `wavetank list networks`."
    return f"no network has this name; {meant}"


def _with_extras(network: Network, extras: list[str]) -> tuple[Network, list[str]]:
    """The network with the extras applied, and their labels in the order of `_EXTRAS`."""
    stated: dict[str, str] = {}
    for extra in extras:
        key, _, value = extra.partition("=")
        if key not in _EXTRAS:
            known = ", ".join(_EXTRAS)
            raise UsageError(f"'{key}' is not a setting of a network; there are {known}.")
        if key in stated:
            raise UsageError(f"'{key}' is stated twice.")
        stated[key] = value
    for key in (key for key in _EXTRAS if key in stated):
        network = _EXTRAS[key](network, stated[key])
    return network, [f"{key}={stated[key]}" for key in _EXTRAS if key in stated]


def _check(network: Network) -> None:
    rate = network.rate_bit_per_s
    if rate is not None and not 1000 <= rate <= RATE_BIT_PER_S_MAX:
        raise UsageError("the rate must lie between 1kbit and 25gbit.")
    if network.jitter_ns > network.rtt_ns:
        raise UsageError("the jitter exceeds the RTT, so some delays would be negative.")
    if network.reorder_probability and not network.rtt_ns:
        raise UsageError("reordering needs an RTT: without delay no packet can overtake.")


def _rate(network: Network, text: str) -> Network:
    return msgspec.structs.replace(network, rate_bit_per_s=quantity.parse_rate(text))


def _rtt(network: Network, text: str) -> Network:
    return msgspec.structs.replace(network, rtt_ns=quantity.parse_duration(text))


def _jitter(network: Network, text: str) -> Network:
    return msgspec.structs.replace(network, jitter_ns=quantity.parse_duration(text))


def _loss(network: Network, text: str) -> Network:
    return msgspec.structs.replace(network, loss=_parse_loss(text))


def _parse_loss(text: str) -> Loss | None:
    if not text.startswith("ge:"):
        probability = quantity.parse_fraction(text)
        if probability == 1:
            raise UsageError("a loss of 100% leaves no network.")
        return IndependentLoss(probability) if probability else None
    values = [quantity.parse_fraction(part) for part in text.removeprefix("ge:").split(":")]
    if not 2 <= len(values) <= 4:
        raise UsageError(
            f"'{text}' is not ge:TO_BAD:TO_GOOD[:LOSS_IN_BAD[:LOSS_IN_GOOD]], "
            "four probabilities per packet."
        )
    if values[1] == 0:
        raise UsageError(f"'{text}' never leaves its bad state; TO_GOOD must be above 0.")
    return GilbertElliottLoss(*values)


def _distribution(network: Network, text: str) -> Network:
    for known in DISTRIBUTIONS:
        if text == known:
            return msgspec.structs.replace(network, jitter_distribution=known)
    raise UsageError(f"'{text}' is not a jitter distribution; there are {_either(DISTRIBUTIONS)}.")


def _reorder(network: Network, text: str) -> Network:
    return msgspec.structs.replace(network, reorder_probability=quantity.parse_fraction(text))


def _queue(network: Network, text: str) -> Network:
    if text.endswith("bdp"):
        try:
            multiple = float(text.removesuffix("bdp"))
        except ValueError:
            multiple = 0.0
        if not 0 < multiple <= 1000:
            raise UsageError(f"queue '{text}' is not a multiple of the BDP, such as 2bdp.")
        return msgspec.structs.replace(network, queue=Queue(bdp=multiple))
    return msgspec.structs.replace(network, queue=Queue(packets=quantity.parse_count(text, 1)))


def _mtu(network: Network, text: str) -> Network:
    mtu_bytes = quantity.parse_size(text)
    if not 576 <= mtu_bytes <= 65535:
        raise UsageError(f"mtu '{text}' must lie between 576 and 65535 bytes.")
    return msgspec.structs.replace(network, mtu_bytes=mtu_bytes)


def _coalesce(network: Network, text: str) -> Network:
    coalesce_ns = quantity.parse_duration(text)
    if coalesce_ns and not COALESCE_NS_LEAST <= coalesce_ns <= COALESCE_NS_MOST:
        raise UsageError(f"coalesce '{text}' must be 0 or lie between 1us and 1ms.")
    return msgspec.structs.replace(network, coalesce_ns=coalesce_ns or msgspec.UNSET)


def _congestion_control(network: Network, text: str) -> Network:
    if text not in CONGESTION_CONTROLS:
        raise UsageError(
            f"'{text}' is not a congestion control of the lab's kernel; "
            f"there are {_either(CONGESTION_CONTROLS)}."
        )
    return _with_tcp(network, lambda tcp: msgspec.structs.replace(tcp, congestion_control=text))


def _rmem(network: Network, text: str) -> Network:
    buffers = _parse_buffers(text)
    return _with_tcp(network, lambda tcp: msgspec.structs.replace(tcp, rmem_bytes=buffers))


def _wmem(network: Network, text: str) -> Network:
    buffers = _parse_buffers(text)
    return _with_tcp(network, lambda tcp: msgspec.structs.replace(tcp, wmem_bytes=buffers))


def _metrics_save(network: Network, text: str) -> Network:
    save = quantity.parse_yes(text)
    return _with_tcp(network, lambda tcp: msgspec.structs.replace(tcp, metrics_save=save))


def _with_tcp(network: Network, change: Callable[[Tcp], Tcp]) -> Network:
    return msgspec.structs.replace(network, tcp=change(network.tcp))


def _parse_buffers(text: str) -> tuple[int, int, int]:
    """Least, initial and greatest buffer as `1MiB:4MiB:16MiB`; one size stands for all three."""
    sizes = [quantity.parse_size(part) for part in text.split(":")]
    if len(sizes) == 1:
        sizes *= 3
    if len(sizes) != 3 or sizes != sorted(sizes) or sizes[0] < 4096:
        raise UsageError(
            f"buffers '{text}' are not LEAST:INITIAL:GREATEST in rising order from 4KiB."
        )
    return sizes[0], sizes[1], sizes[2]


def _either(words: tuple[str, ...]) -> str:
    return ", ".join(words[:-1]) + " and " + words[-1]


_EXTRAS: Mapping[str, Callable[[Network, str], Network]] = {
    "rate": _rate,
    "rtt": _rtt,
    "loss": _loss,
    "jitter": _jitter,
    "dist": _distribution,
    "reorder": _reorder,
    "queue": _queue,
    "mtu": _mtu,
    "coalesce": _coalesce,
    "cc": _congestion_control,
    "rmem": _rmem,
    "wmem": _wmem,
    "metrics-save": _metrics_save,
}
