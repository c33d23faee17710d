"""Settings of the dashboard for one process that serves a test: an in-memory cache, no compression on request."""

import os

from openstack_dashboard.settings import *  # noqa: F403

SECRET_KEY = "only for tests, with the required length"
OPENSTACK_KEYSTONE_URL = os.environ["OS_AUTH_URL"]
ALLOWED_HOSTS = ["127.0.0.1"]
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
SESSION_ENGINE = "django.contrib.sessions.backends.cache"
# Messages remain until a test has read them.
HORIZON_CONFIG["auto_fade_alerts"] = {"delay": 3600000, "fade_duration": 0, "types": []}  # noqa: F405
