"""The table of pages: every address that people open, with its template and who may. A new page is a row in its module.

Tests walk the table: whatever stands here is checked for leaks, size, accessibility and what hostile text does to it.
"""

from __future__ import annotations

from mycel.surfaces.web import (
    actions,
    agents,
    audit,
    browse,
    home,
    inbox,
    inbox_forms,
    memory_forms,
    memory_page,
    preferences,
    runs,
    search,
    tasks,
    teams,
    writing,
)
from mycel.surfaces.web.page import Form, Page

# In the order of the navigation.
_MODULES = (home, inbox, search, browse, writing, memory_page, tasks, agents, audit, actions, runs, teams)
PAGES: tuple[Page, ...] = tuple(page for module in _MODULES for page in module.PAGES)
FORMS: tuple[Form, ...] = (
    *memory_forms.FORMS,
    *writing.FORMS,
    *inbox_forms.FORMS,
    *audit.FORMS,
    *actions.FORMS,
    *runs.FORMS,
    *teams.FORMS,
    Form(address="/theme", act=preferences.choose_theme),
    Form(address="/team", act=preferences.choose_team),
)
NAVIGATION: tuple[Page, ...] = tuple(page for page in PAGES if page.label is not None)
