"""One ledger for lanes lent within and between runs."""
