"""Wang, Du, Luo, Li 2018: people with several records, IR against EIR (figures 2 to 9)."""
