"""Counters read from the kernel's text files."""

from __future__ import annotations

from wavetank.gauges import link, tcp
from wavetank.runs.records import LinkDirection

NETSTAT = (
    "TcpExt: SyncookiesSent TCPTimeouts TCPFastRetrans TCPLossProbes\n"
    "TcpExt: 9 3 4 5\n"
    "IpExt: InNoRoutes InOctets\n"
    "IpExt: 1 2\n"
)


def test_counters_are_found_by_name_and_not_by_place() -> None:
    assert tcp._pairs(NETSTAT) == [("timeouts", 3), ("fast_retransmits", 4), ("loss_probes", 5)]


def test_a_trial_is_the_difference_of_two_readings() -> None:
    assert tcp.between({"a": 1, "b": 5}, {"a": 4, "b": 5}) == {"a": 3, "b": 0}
    before = LinkDirection(bytes=100, packets=1, dropped=0)
    after = LinkDirection(bytes=1600, packets=3, dropped=1)
    record = link.between(
        link.LinkReading(before, before), link.LinkReading(to_server=after, to_client=before)
    )
    assert record.to_server == LinkDirection(bytes=1500, packets=2, dropped=1)
    assert record.to_client == LinkDirection(bytes=0, packets=0, dropped=0)
