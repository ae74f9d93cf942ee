"""The package against the answers of two other implementations: see tests/data/oracle/README.md."""
