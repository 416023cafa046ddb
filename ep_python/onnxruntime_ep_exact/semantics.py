"""The version of the bits (docs/receipts.md says when it changes)."""

#: Receipts are compared only where both sides have the same one.
SEMANTICS = 1
