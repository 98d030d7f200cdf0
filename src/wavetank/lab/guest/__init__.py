"""What runs inside the guest: mounts, namespaces, the emulated path, its verification, disks."""
