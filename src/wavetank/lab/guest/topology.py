"""The path of every trial: client - router - server, one veth pair on each side.

    client (initial namespace)        router                  server
      net0 10.0.1.1  <--veth-->  to-client | to-server  <--veth-->  net0 10.0.2.1

netem stands on the router's egress in both directions, so that what it drops looks like loss on
the path and never like a full queue of the sender. A Topology is made for one trial and removed
after it: no TCP metrics, neighbours, ports or counters are left for the next one.
"""

from __future__ import annotations

from types import TracebackType

from wavetank.lab.errors import LabError
from wavetank.lab.guest.kernel_settings import write_setting
from wavetank.lab.guest.namespaces import Namespace
from wavetank.lab.guest.netem import is_plain, netem_options
from wavetank.lab.guest.netlink import Route
from wavetank.study.model import Network, Tcp

CLIENT_ADDRESS, SERVER_ADDRESS = "10.0.1.1", "10.0.2.1"
ROUTER_TO_CLIENT, ROUTER_TO_SERVER = "to-client", "to-server"
_ROUTER_ADDRESSES = {ROUTER_TO_CLIENT: "10.0.1.254", ROUTER_TO_SERVER: "10.0.2.254"}


class Topology:
    """The three hosts of one trial; a context manager. OSError or LabError if it can't be made."""

    def __init__(self, network: Network, seed: int) -> None:
        self.network = network
        self._seed = seed
        self._open: list[Namespace] = []

    def __enter__(self) -> Topology:
        self.client = self._keep(Namespace.current("client"))
        self.router = self._keep(Namespace.new("router"))
        self.server = self._keep(Namespace.new("server"))
        self._join(self.client, ROUTER_TO_CLIENT, CLIENT_ADDRESS, 1)
        self._join(self.server, ROUTER_TO_SERVER, SERVER_ADDRESS, 2)
        with self.router.entered():
            write_sysctl("net/ipv4/ip_forward", "1")
        for host in (self.client, self.server):
            with host.entered():
                apply_tcp(self.network.tcp)
        self.shape(self.network)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self.client.entered():
            route = Route()
            try:
                route.delete_link("net0")
            except OSError:
                pass  # never made: set-up failed before it
            finally:
                route.close()
        for namespace in reversed(self._open):
            namespace.close()

    def shape(self, network: Network) -> None:
        """Puts the network's impairments on the router, with fresh counters and seeds."""
        with self.router.entered():
            route = Route()
            for name in (ROUTER_TO_CLIENT, ROUTER_TO_SERVER):
                if is_plain(network):
                    route.replace_root_qdisc(name, "pfifo", (1000).to_bytes(4, "little"))
                else:
                    route.replace_root_qdisc(
                        name, "netem", netem_options(network, name, self._seed)
                    )
            route.close()

    def _keep(self, namespace: Namespace) -> Namespace:
        self._open.append(namespace)
        return namespace

    def _join(self, host: Namespace, router_link: str, address: str, subnet: int) -> None:
        """A veth pair between a host and the router, addressed, routed and up."""
        mtu = self.network.mtu_bytes
        gateway = _ROUTER_ADDRESSES[router_link]
        # Fixed hardware addresses: random ones would come from the pool and differ by history.
        mac, router_mac = f"02:00:00:00:0{subnet}:01", f"02:00:00:00:0{subnet}:fe"
        with host.entered():
            hosts = Route()
            hosts.set_up("lo")
            hosts.add_veth("net0", router_link, self.router.descriptor, mac, router_mac)
            hosts.add_address("net0", address, 24)
            hosts.set_up("net0", mtu)
        with self.router.entered():
            routers = Route()
            routers.add_address(router_link, gateway, 24)
            routers.set_up(router_link, mtu)
            routers.add_neighbour(router_link, address, mac)
            routers.close()
        with host.entered():
            hosts.add_neighbour("net0", gateway, router_mac)
            hosts.add_default_route(gateway)
            hosts.close()


def write_sysctl(name: str, value: str) -> None:
    """A sysctl of the namespace this thread is in."""
    write_setting(f"/proc/sys/{name}", value)


def apply_tcp(tcp: Tcp) -> None:
    """Congestion control and buffers (H14 listing 3.2) in the current namespace."""
    try:
        write_sysctl("net/ipv4/tcp_congestion_control", tcp.congestion_control)
    except LabError as error:
        raise LabError(
            f"the guest kernel has no TCP congestion control {tcp.congestion_control!r}; "
            "try cubic, bbr or reno"
        ) from error
    write_sysctl("net/ipv4/tcp_rmem", " ".join(str(value) for value in tcp.rmem_bytes))
    write_sysctl("net/ipv4/tcp_wmem", " ".join(str(value) for value in tcp.wmem_bytes))
    write_sysctl("net/ipv4/tcp_no_metrics_save", "0" if tcp.metrics_save else "1")
