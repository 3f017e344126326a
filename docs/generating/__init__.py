"""How the generated pages, outputs of commands and pictures of the documentation are made; see docs/generate.py."""
