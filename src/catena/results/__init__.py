"""What came out: rows of a run or of inverse dynamics, how far they can be trusted, and pictures of them.

    result      Result and load_result: a labelled dataset with its mechanism
    ledger      what can be wrong with a result, as numbers and one verdict
    storage     rows on disk, whole after any interruption
    plots/      one file per kind of picture; animation: films
"""
