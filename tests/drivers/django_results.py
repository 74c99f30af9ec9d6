"""A test runner for Django's own tests that writes what became of each to $DJANGO_RESULTS."""

import json
import os
import unittest

from django.test.runner import DiscoverRunner


class Result(unittest.TextTestResult):
    outcomes = {}

    def note(self, test, outcome):
        # One failing subtest fails its test.
        if self.outcomes.get(test.id()) != "failed":
            self.outcomes[test.id()] = outcome

    def addSuccess(self, test):
        super().addSuccess(test)
        self.note(test, "passed")

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.note(test, "failed")

    def addError(self, test, error):
        super().addError(test, error)
        self.note(test, "failed")

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None:
            self.note(test, "failed")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.note(test, "skipped")

    def addExpectedFailure(self, test, error):
        super().addExpectedFailure(test, error)
        self.note(test, "skipped")

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.note(test, "failed")


class Runner(DiscoverRunner):
    def get_resultclass(self):
        return Result

    def suite_result(self, suite, result, **options):
        with open(os.environ["DJANGO_RESULTS"], "w") as file:
            json.dump(Result.outcomes, file)
        return super().suite_result(suite, result, **options)
