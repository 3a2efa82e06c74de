"""Suites that others run over what they wrote for Barry.

An adapter's test file, whole::

    from barry_cli.testing import AdapterSuite

    class TestMyAdapter(AdapterSuite):
        package = ".."  # the folder of the package's pyproject.toml, seen from this file

No harness has to be installed for it, nothing is recorded, and no file of the user's is touched.
"""

from barry_cli.testing.adapter_suite import AdapterSuite, conformance_checks
from barry_cli.testing.subject import NotConforming

__all__ = ["AdapterSuite", "NotConforming", "conformance_checks"]
