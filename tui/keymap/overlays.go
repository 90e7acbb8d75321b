package keymap

import "slices"

// overlayActions returns the actions of overlays and text lines.
func overlayActions() []*Row {
	return slices.Concat(
		rows(Line, Row{Name: LineAccept, Help: "select, apply", Keys: []Key{"enter"}},
			Row{Name: LineClose, Help: "close or go back", Keys: []Key{"esc"}},
			Row{Name: LineUp, Help: "previous entry", Keys: []Key{"up", "ctrl+p"}},
			Row{Name: LineDown, Help: "next entry", Keys: []Key{"down", "ctrl+n"}},
			Row{Name: LinePageUp, Help: "a page up", Keys: []Key{"pgup"}},
			Row{Name: LinePageDown, Help: "a page down", Keys: []Key{"pgdown"}}),
		rows(List, Row{Name: ListFirst, Help: "first entry", Keys: []Key{"home"}},
			Row{Name: ListLast, Help: "last entry", Keys: []Key{"end"}}),
		rows(ModelList, Row{Name: FavouriteModel, Help: "mark or unmark as a favourite", Keys: []Key{"alt+f"}}),
		rows(SessionList, Row{Name: ShowSession, Help: "show the messages of the session", Keys: []Key{"alt+o"}}),
		rows(CheckpointList, Row{Name: RollBackState, Help: "roll back only the rules", Keys: []Key{"alt+r"}},
			Row{Name: RollBackConversation, Help: "roll back only the conversation", Keys: []Key{"alt+c"}}),
		rows(TopicList, Row{Name: NewTopic, Help: "new topic", Keys: []Key{"alt+n"}},
			Row{Name: RenameTopic, Help: "rename the topic", Keys: []Key{"alt+r"}},
			Row{Name: DeleteTopic, Help: "delete the topic", Keys: []Key{"alt+d"}}),
		rows(FilterList, Row{Name: ForgetFilter, Help: "delete the saved filter", Keys: []Key{"alt+x"}}),
		rows(SettingList, Row{Name: PreviousValue, Help: "previous value of the setting", Keys: []Key{"left"}},
			Row{Name: NextValue, Help: "next value of the setting", Keys: []Key{"right"}}),
		rows(Text, Row{Name: TextUp, Help: "a line up", Keys: []Key{"up", "k", "ctrl+p"}},
			Row{Name: TextDown, Help: "a line down", Keys: []Key{"down", "j", "ctrl+n"}},
			Row{Name: TextPageUp, Help: "a page up", Keys: []Key{"pgup", "ctrl+u"}},
			Row{Name: TextPageDown, Help: "a page down", Keys: []Key{"pgdown", "ctrl+d", "space"}},
			Row{Name: TextFirst, Help: "to the first line", Keys: []Key{"home", "g"}},
			Row{Name: TextLast, Help: "to the last line", Keys: []Key{"end", "G"}},
			Row{Name: TextClose, Help: "close", Keys: []Key{"esc", "q", "enter"}}),
		rows(RequestText, Row{Name: FoldSection, Help: "open or close the section", Keys: []Key{"enter", "space"}},
			Row{Name: FoldSections, Help: "open or close all", Keys: []Key{"a"}},
			Row{Name: SearchRequest, Help: "search the request", Keys: []Key{"/"}},
			Row{Name: NextFound, Help: "next hit", Keys: []Key{"n"}},
			Row{Name: PreviousFound, Help: "previous hit", Keys: []Key{"N"}},
			Row{Name: ShowBytes, Help: "switch between bytes and roles", Keys: []Key{"r"}},
			Row{Name: CopyRequest, Help: "copy the request", Keys: []Key{"y"}},
			Row{Name: OlderRequest, Help: "previous request", Keys: []Key{"left"}},
			Row{Name: NewerRequest, Help: "next request", Keys: []Key{"right"}}),
		questionActions(), editActions())
}

// questionActions returns the actions that answer a question. If a question needs two answers
// with the same letter, it has a mode of its own with the second answer.
func questionActions() []*Row {
	return slices.Concat(
		rows(Question, Row{Name: AnswerYes, Help: "yes", Keys: []Key{"y"}},
			Row{Name: AnswerNo, Help: "no", Keys: []Key{"n"}},
			Row{Name: AnswerSave, Help: "save", Keys: []Key{"s"}},
			Row{Name: AnswerKeep, Help: "keep", Keys: []Key{"k"}},
			Row{Name: AnswerDiscard, Help: "discard", Keys: []Key{"d"}},
			Row{Name: AnswerTheirs, Help: "load the other version", Keys: []Key{"t"}},
			Row{Name: AnswerEdit, Help: "edit", Keys: []Key{"e"}},
			Row{Name: AnswerNext, Help: "mark the next answer", Keys: []Key{"right", "tab"}},
			Row{Name: AnswerPrevious, Help: "mark the previous answer", Keys: []Key{"left", "shift+tab"}},
			Row{Name: AnswerMarked, Help: "choose the marked answer; the default changes nothing", Keys: []Key{"enter"}},
			Row{Name: AnswerCancel, Help: "cancel, and change nothing", Keys: []Key{"esc"}}),
		rows(QueueQuestion, Row{Name: AnswerSend, Help: "send now", Keys: []Key{"s"}}),
		rows(UndoQuestion, Row{Name: AnswerStateOnly, Help: "undo only the rules", Keys: []Key{"r"}}),
		rows(RecoveryQuestion, Row{Name: AnswerRecover, Help: "recover", Keys: []Key{"r"}}))
}

// editActions returns the actions that edit the text of the box and of every text line.
func editActions() []*Row {
	return rows(Editing, Row{Name: EditLeft, Help: "a character left", Keys: []Key{"left"}},
		Row{Name: EditRight, Help: "a character right", Keys: []Key{"right", "ctrl+f"}},
		Row{Name: EditUp, Help: "a line up", Keys: []Key{"up"}},
		Row{Name: EditDown, Help: "a line down", Keys: []Key{"down"}},
		Row{Name: EditWordLeft, Help: "a word left", Keys: []Key{"ctrl+left", "alt+left", "alt+b"}},
		Row{Name: EditWordRight, Help: "a word right", Keys: []Key{"ctrl+right", "alt+right", "alt+f"}},
		Row{Name: EditStart, Help: "to the start of the line", Keys: []Key{"home", "ctrl+a"}},
		Row{Name: EditEnd, Help: "to the end of the line", Keys: []Key{"end", "ctrl+e"}},
		Row{Name: EditDeleteBefore, Help: "delete the character before the cursor", Keys: []Key{"backspace", "ctrl+h"}},
		Row{Name: EditDeleteAfter, Help: "delete the character after the cursor", Keys: []Key{"delete", "ctrl+d"}},
		Row{Name: EditDeleteWord, Help: "delete the word before the cursor", Keys: []Key{"ctrl+w", "alt+backspace", "ctrl+backspace"}},
		Row{Name: EditDeleteToStart, Help: "delete to the start of the line", Keys: []Key{"ctrl+u"}},
		Row{Name: EditDeleteToEnd, Help: "delete to the end of the line", Keys: []Key{"ctrl+k"}})
}

// rows returns the given actions with m as their only mode.
func rows(m Mode, all ...Row) (list []*Row) {
	for _, r := range all {
		r.Modes = []Mode{m}
		list = append(list, &r)
	}
	return list
}
