"""The pictures of studies, one file per picture; `catena.studies.plotting` is their registry. The
house style is that of results.
"""
