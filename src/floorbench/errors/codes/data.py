"""FB2xx: data, manifests, predictions."""

from __future__ import annotations

from floorbench.errors.codes.row import Code

CODES: dict[str, Code] = {
    "FB201": Code(
        "malformed record",
        "A line is not valid JSON, lacks a required key, or has one nobody knows or one twice.",
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
        "Set the field 'language' or the folder EN or ZH; tell the task about another language: "
        "`--task-set 'languages=[\"de\"]'`.",
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
    "FB223": Code(
        "a stream where one answer is asked",
        "The task asks for one answer an item, and the system is a stream.",
        "Run it on a task for streams: turns, or echo.",
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
    "FB278": Code(
        "calls not cut",
        "The calls have no sound or no labelled pause, or the folder to be made is not new.",
        "Give calls with a stereo recording and speech of both sides, and a new folder.",
    ),
    "FB279": Code(
        "channels swapped",
        "A channel is louder while the other side speaks: the sides have each other's sound.",
        "Name the user's side with --reader-set user=NAME, or say --reader-set swap=true.",
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
}
