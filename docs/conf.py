"""The documentation site: Sphinx with MyST, so that every page stays Markdown; notebooks run while it is built.

    sphinx-build -W docs build/site

Pages whose first line is `---` with a kernel are notebooks: their cells run in a fresh process each, and a cell that fails stops the build.
"""

from __future__ import annotations

import catena

project = "catena"
author = "The catena developers"
release = version = catena.__version__
copyright = "the catena developers, BSD-3-Clause"

extensions = ["myst_nb"]
exclude_patterns = ["build"]
suppress_warnings = ["myst.header"]  # pages of the gallery begin with the second level where they quote

myst_enable_extensions = ["amsmath", "dollarmath", "deflist", "colon_fence"]
myst_heading_anchors = 3
nb_execution_mode = "cache"
nb_execution_timeout = 120
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_merge_streams = True

html_theme = "furo"
html_title = "catena"
html_logo = "images/logo.svg"
html_favicon = "images/logo.svg"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_theme_options = {
    "sidebar_hide_name": True,
    "light_css_variables": {"color-brand-primary": "#1f5f8b", "color-brand-content": "#1f5f8b"},
    "dark_css_variables": {"color-brand-primary": "#7fb8dd", "color-brand-content": "#7fb8dd"},
}
