"""FB5xx: systems and runs."""

from __future__ import annotations

from floorbench.errors.codes.row import Code

CODES: dict[str, Code] = {
    "FB501": Code(
        "system cannot be loaded",
        "Building the system or loading its weights raised an error, or its worker died.",
        "Run `floorbench doctor`; the message carries the system's own reason.",
    ),
    "FB502": Code(
        "run does not match",
        "A run is to be resumed with another task, system, dataset, seed or condition list.",
        "Resume with what the run was started with, or start a new run.",
    ),
    "FB503": Code(
        "folder in use",
        "Another process writes this run folder, review, listening session or new dataset.",
        "Wait for it, or stop it; two processes may not write one folder.",
    ),
    "FB504": Code(
        "journal cannot be written",
        "The operating system refused a write to the run folder, for example on a full disk.",
        "Make room and resume; every line written so far is kept.",
    ),
    "FB505": Code(
        "not a run folder",
        "The folder has no readable run.json or its journal is broken in the middle.",
        "Give the folder that `floorbench run` printed.",
    ),
    "FB506": Code(
        "unknown run schema",
        "run.json was written with a schema version that this floorbench does not know.",
        "Use the floorbench version that wrote it, or a newer one.",
    ),
    "FB507": Code(
        "run interrupted",
        "The run was stopped by a signal; its journal is complete up to that moment.",
        "Resume it with the command of the message.",
    ),
    "FB508": Code(
        "observation changed",
        "A sample shows a system something else than when its prediction was written.",
        "Start a new run, or resume with the option that computes changed samples again.",
    ),
    "FB509": Code(
        "executor cannot run this",
        "The chosen executor cannot carry the system or the audio, or has a bad parameter.",
        "Use the serial executor, or name the system instead of handing over an object.",
    ),
    "FB511": Code(
        "system file cannot be loaded",
        "The Python file of a system is missing, does not run, or lacks the named class.",
        "Give `path/to/file.py:ClassName`, and run the file by itself to see its own error.",
    ),
    "FB512": Code(
        "not a system",
        "The object has no `spec`, `load` and `decide` as a system needs them.",
        "See `floorbench new system` for a working skeleton.",
    ),
    "FB513": Code(
        "bad system parameter",
        "A system gets a parameter that it does not know, or a value outside its range.",
        "The message names the known parameters or the range.",
    ),
    "FB514": Code(
        "unexpected model",
        "A model file does not have the inputs and outputs that the system is written for.",
        "Give the path of the right model file.",
    ),
    "FB515": Code(
        "no place for a worker",
        "No node of the Ray cluster can give a worker the CPUs, GPUs or memory it asks for.",
        "Ask for less with --cpus-per-worker, --gpus-per-worker or --memory-per-worker, add nodes, "
        "or wait longer with --place-timeout.",
    ),
    "FB516": Code(
        "no Ray cluster",
        "Ray cannot be started on this machine, or there is no cluster at the address.",
        "Check --ray-address and the variable RAY_ADDRESS; the call must come from a machine of "
        "the cluster.",
    ),
    "FB517": Code(
        "floorbench missing on a node",
        "A node of the Ray cluster cannot import floorbench, or has another version of it.",
        "Install the same floorbench, with the same extras, on all nodes.",
    ),
    "FB518": Code(
        "data missing on a node",
        "A worker on another node of the Ray cluster does not see a file that is seen here.",
        "Put the data on a file system that all nodes mount at the same path.",
    ),
    "FB520": Code(
        "results are not comparable",
        "The protocol parts of two signatures differ.",
        "Score both runs with the same task parameters, data, seed and floorbench version.",
    ),
    "FB521": Code(
        "nothing to score",
        "The dataset holds no sample that the protocol asks this system for.",
        "Check the limit, the conditions and the system's declared capability.",
    ),
    "FB522": Code(
        "threshold artefact was changed",
        "The content of a threshold artefact does not have the hash that it carries.",
        "Write it again with `floorbench tune`; a frozen threshold is not edited by hand.",
    ),
    "FB523": Code(
        "threshold of something else",
        "A threshold artefact was chosen for another task or another system than the run's.",
        "Tune on a run of the same task and the same system, configured alike.",
    ),
    "FB524": Code(
        "no threshold to choose",
        "The system declares no score, its label map has no threshold, or the task takes none.",
        "Tune a system that stores a score for every decision.",
    ),
    "FB525": Code(
        "nothing to judge",
        "None of the cells that a gate was asked for can be judged: the baseline has no such cell, "
        "neither way is better, or no margin fits the unit. Or one run answered nothing at all.",
        "Name metrics with `--metric` and their margins with `--margin NAME=VALUE`; look at the "
        "failures of the run.",
    ),
    "FB526": Code(
        "metric that no run has",
        "A metric that a gate was told about is in no cell that it judges.",
        "Take a name that `floorbench score RUN --all` prints.",
    ),
    "FB527": Code(
        "no margin",
        "A margin of a gate is negative, not finite, given twice, or has no unit where the metric "
        "is no share.",
        "Give points from 0 for shares, `--margin 2`, and the metric's own unit for the others, "
        "`--margin NAME=VALUE`.",
    ),
    "FB528": Code(
        "metric that takes no side",
        "Neither more nor less of this metric is better by itself, so nothing can get worse.",
        "Gate another metric, or say which way is better for you: `--better NAME=lower`.",
    ),
    "FB531": Code(
        "malformed frame scores",
        "Scores per frame hold NaN or infinity, have a wrong shape, or an unknown column.",
        "Give finite scores (frames, columns) named signal:role, for example eot:user.",
    ),
    "FB532": Code(
        "trace file missing or changed",
        "The file that holds the scores of a prediction is absent, broken or holds other scores.",
        "Copy the `traces` folder together with the journal, or run again.",
    ),
    "FB533": Code(
        "frame rate does not match",
        "A trace does not have the number of frames that the session's length and its rate need.",
        "Declare the rate and look-ahead that the scores were made with.",
    ),
    "FB534": Code(
        "scores of an unknown session",
        "A file of frame scores is named after no session of the data.",
        "Name each file after its session, or give the session of a single file.",
    ),
    "FB535": Code(
        "unusable probe",
        "A trained probe cannot be read or does not fit the features of its system.",
        "Train it again with `floorbench fit`, with this version of floorbench.",
    ),
    "FB536": Code(
        "probe cannot be trained",
        "The training split has no session, or a class that is to be learnt does not occur.",
        "Give more sessions, or a split list whose training part holds every class.",
    ),
    "FB541": Code(
        "not a stream",
        "The system gives neither decisions with commit times nor scores per frame, so that its "
        "clock cannot be checked.",
        "Name a system that streams or scores frames (`floorbench list systems`), or give it an "
        "`open` method.",
    ),
    "FB542": Code(
        "bad stream declaration",
        "A streaming system declares no usable step, sampling rate or delay of words.",
        "Set `streaming_step` (seconds) and `front_end.rate` (Hz) so that a step is whole samples.",
    ),
    "FB543": Code(
        "bad stream event",
        "A stream returned something that is not an event, or one from before or after the audio.",
        "Return Event objects whose time is from 0 to the end of the pushed chunk.",
    ),
    "FB544": Code(
        "stream connection failed",
        "An external streaming system cannot be reached, or does not answer its greeting.",
        "Start it first, and give its address as ws://HOST:PORT/PATH.",
    ),
    "FB545": Code(
        "stream protocol broken",
        "An external streaming system sent something that the wire schema does not allow.",
        "Compare with docs/reference/stream-wire.json; each chunk is answered once, in order.",
    ),
    "FB551": Code(
        "program or server of a system cannot be used",
        "A system's program is not named, does not start, or ends before it says hello; or its "
        "server does not answer.",
        "Try its command by hand, and `floorbench worker check COMMAND`.",
    ),
    "FB552": Code(
        "program breaks the protocol",
        "The program of a system sent something that the protocol does not allow.",
        "`floorbench worker check COMMAND` names every fault; see docs/reference/worker-wire.md.",
    ),
    "FB553": Code(
        "trained prompt missing",
        "A model was trained with a prompt that belongs to its weights and is not here.",
        "Put the prompt's text where the message says; it comes with the model.",
    ),
    "FB554": Code(
        "model folder incomplete",
        "A model's folder is missing, or lacks its weights or its tokenizer.",
        "Download the model's whole folder and give its path.",
    ),
    "FB555": Code(
        "bad price file",
        "A price file has no date, no currency, or no price for a model.",
        "The message names the field; prices are yours to write down, none are built in.",
    ),
    "FB556": Code(
        "budget reached",
        "What was spent, by your price file, has reached the budget of the run.",
        "Raise --budget and go on with --resume; nothing paid for is asked again.",
    ),
    "FB557": Code(
        "recorded replies cannot be used",
        "The folder of recorded replies cannot be written, or a file in it is damaged.",
        "Check the folder's permissions; delete the named file to ask again.",
    ),
    "FB558": Code(
        "will not overwrite",
        "A file that would be written is already there.",
        "Choose another name or folder.",
    ),
    "FB559": Code(
        "model hub out of reach",
        "A model is named by its hub name, and the hub cannot be reached or does not have it.",
        "Give the path of a local folder with the model.",
    ),
    "FB561": Code(
        "run cannot be planned from",
        "A run is not finished, or too few of its answers have a measured time.",
        "Finish it with --resume, or run at least 50 samples of the kind that is to be planned.",
    ),
    "FB562": Code(
        "no sound to plan by",
        "A plan is asked for in hours, and what was measured has no sound.",
        "Say --samples instead.",
    ),
    "FB563": Code(
        "build cannot be planned from",
        "A build has no finished item, or a stage through which nothing went.",
        "Build enough items that some come through every stage.",
    ),
    "FB564": Code(
        "nothing to plan from",
        "The folder is neither a run nor a dataset made by a build.",
        "Give the folder that `floorbench run` or `floorbench build` has printed.",
    ),
}
