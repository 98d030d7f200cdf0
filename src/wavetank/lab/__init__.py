"""The testbed: kernel, isolation, clock, topology, netem, disks. Knows no storage system."""
