"""`python -m worker.scheduling.replanning < question.json > answer.json`: answer a driver's question.

A process of its own, at the lowest priority: planning takes up to seconds of a core, which the driver's loop and the
lanes of a small machine must not lack.
"""

import os
import sys

from worker.scheduling.replanning.question import ReplanQuestion, answer

if __name__ == "__main__":
    os.nice(19)
    sys.stdout.write(answer(ReplanQuestion.model_validate_json(sys.stdin.read())).model_dump_json())
