"""FB6xx: events, metrics, statistics."""

from __future__ import annotations

from floorbench.errors.codes.row import Code

CODES: dict[str, Code] = {
    "FB601": Code(
        "bad metric input",
        "Columns of unequal length, unknown labels, or values outside their range.",
        "The message names the column and the row.",
    ),
    "FB610": Code(
        "bad activity",
        "A speech span or an activity track is not what the event definitions can read: negative, "
        "reversed or unsorted spans, times that are no whole ticks, values other than 0 and 1.",
        "Sort spans by start and convert seconds to ticks; the message names the first bad one.",
    ),
    "FB611": Code(
        "bad channels",
        "A two-channel session lacks a channel or its two tracks differ in length.",
        "Give one entry per role, empty for a silent one, on one media clock.",
    ),
    "FB612": Code(
        "bad event parameter",
        "A threshold of an event definition is negative, missing or contradicts another one.",
        "The message names the parameter and its range.",
    ),
    "FB613": Code(
        "bad listener responses",
        "Responses or words of a stimulus cannot be turned into labels.",
        "Give the roster of everybody who heard the stimulus and words in order of midpoints.",
    ),
    "FB615": Code(
        "bad projection scores",
        "Voice activity projection probabilities have the wrong shape, leave [0, 1] or do not sum "
        "to one.",
        "Pass softmax output of shape (frames, classes) in the model's class order.",
    ),
    "FB620": Code(
        "code outside its label set",
        "A coded column holds a number that stands for no label, or is not made of integers.",
        "Encode labels by their place in the task's label set; -1 only for a missing prediction.",
    ),
    "FB621": Code(
        "answer without a label",
        "A unit has the outcome ok but no usable label, so it is neither an answer nor missing.",
        "Set the outcome to invalid (or abstained), or give the label.",
    ),
    "FB622": Code(
        "answer without a finite score",
        "A unit has the outcome ok but its score, time or probability is NaN or infinite.",
        "Leave the score out and set the outcome to what happened; scores are finite numbers.",
    ),
    "FB623": Code(
        "probability outside [0, 1]",
        "A calibration metric was given a score that is not a probability.",
        "Give probabilities; a logit or a margin has to be converted before.",
    ),
    "FB624": Code(
        "broken pair",
        "A pair lacks a member, or its members do not follow their contrast's order of roles.",
        "Give both members of every pair, in the same order for the whole contrast.",
    ),
    "FB625": Code(
        "broken stimulus",
        "A slot index stands twice in one stimulus and trial, or a slot's values contradict.",
        "Give every slot of a stimulus once per trial, all in one cluster and one list.",
    ),
    "FB626": Code(
        "bad rater counts",
        "The counts of raters per category are negative, fractional or of the wrong width.",
        "Give one row per case with one whole count per category.",
    ),
    "FB627": Code(
        "unknown label",
        "A metric asks for a label that the units' label set does not have.",
        "Use a label of the task; `floorbench show TASK` lists them.",
    ),
    "FB628": Code(
        "bad latency status",
        "An event is neither answered, missed nor censored.",
        "Give each event one of the three; a censored one carries the time it was watched for.",
    ),
    "FB629": Code(
        "unknown outcome",
        "An outcome code is not one of the known outcomes.",
        "Use ok, abstained, unsupported, invalid, failed, timeout or absent.",
    ),
    "FB630": Code(
        "not a distribution",
        "A histogram holds negative or non-finite numbers, or two have different lengths.",
        "Give two histograms over the same bins.",
    ),
    "FB631": Code(
        "no operating point",
        "No threshold meets the objective, or the split has no scored unit of a needed class.",
        "Choose on a split that has both classes, or relax the objective.",
    ),
    "FB650": Code(
        "bad resampling request",
        "The seed, number of draws, level, power or number of permutations is out of range.",
        "Seeds are 0 or more, draws at least 1, levels strictly between 0 and 1.",
    ),
    "FB651": Code(
        "clusters do not fit",
        "Strata, masks or the two systems of a comparison do not have the same clusters.",
        "Compare systems on the same samples, and give one stratum code per cluster.",
    ),
    "FB652": Code(
        "evaluator of the wrong shape",
        "A metric returned something else than one value per draw.",
        "A function of weights (draws, clusters) returns values (draws,).",
    ),
    "FB653": Code(
        "impossible count",
        "A rate has more successes than units, a negative count, or a fraction of a unit.",
        "Give successes between 0 and the number of units.",
    ),
    "FB654": Code(
        "impossible p value",
        "A p value is NaN or lies outside [0, 1].",
        "Pass None where no test was possible.",
    ),
}
