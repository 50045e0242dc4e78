"""The pictures of studies, one file per picture; `catena.studies.plotting` is their registry. The
style is that of the pictures of results.
"""
