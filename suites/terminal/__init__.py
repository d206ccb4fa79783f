"""The suite `terminal`: small jobs in a shell, judged by hidden tests."""
