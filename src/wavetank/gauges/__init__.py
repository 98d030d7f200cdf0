"""What is read off while a trial runs: link, TCP, packets, caches; and where it all ran."""
