"""What each page shows and does: functions from what was asked to an answer."""
