"""Trees with names, along which broadcasts and scatters send on networks of their own."""
