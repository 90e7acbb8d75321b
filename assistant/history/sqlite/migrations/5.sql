-- Version 5: filters are SQL, so that nothing follows changes by number any more.
-- Attachments, tool calls and payloads become part of body.more, under its sum.
UPDATE body SET sum = -1 WHERE sum IS NOT NULL AND sum <> body_sum(CAST(user AS BLOB), CAST(answer AS BLOB), CAST(reasoning AS BLOB), CAST(error_code AS BLOB), CAST(error_message AS BLOB), CAST(more AS BLOB));
UPDATE body SET sum = NULL WHERE sum <> -1 AND seq IN
	(SELECT seq FROM attachment UNION SELECT seq FROM tool_call UNION SELECT seq FROM payload);
UPDATE body SET more = json_patch(CASE more WHEN '' THEN '{}' ELSE more END, json_object(
	'attachments', json(nullif((SELECT json_group_array(json_object('name', name, 'type', type, 'size', size))
		FROM (SELECT * FROM attachment a WHERE a.seq = body.seq ORDER BY n)), '[]')),
	'tool_calls', json(nullif((SELECT json_group_array(json_object('id', id, 'name', name,
			'arguments_text', CAST(arguments AS TEXT),
			'result', CASE WHEN json_valid(CAST(result AS TEXT)) THEN json(CAST(result AS TEXT)) END,
			'response', response, 'took', took, 'silent', json(CASE silent WHEN 0 THEN 'false' ELSE 'true' END)))
		FROM (SELECT * FROM tool_call c WHERE c.seq = body.seq ORDER BY n)), '[]')),
	'payloads', json(nullif((SELECT json_group_array(json_object('id', id, 'type', type,
			'data', CASE WHEN json_valid(CAST(data AS TEXT)) THEN json(CAST(data AS TEXT)) END,
			'summary', summary, 'decision', decision))
		FROM (SELECT * FROM payload y WHERE y.seq = body.seq ORDER BY n)), '[]'))))
WHERE seq IN (SELECT seq FROM attachment UNION SELECT seq FROM tool_call UNION SELECT seq FROM payload);
UPDATE body SET sum = body_sum(CAST(user AS BLOB), CAST(answer AS BLOB), CAST(reasoning AS BLOB), CAST(error_code AS BLOB), CAST(error_message AS BLOB), CAST(more AS BLOB)) WHERE sum IS NULL;
DROP TABLE attachment;
DROP TABLE tool_call;
DROP TABLE payload;
DROP TABLE gone;
DROP INDEX pair_rev;
ALTER TABLE pair DROP COLUMN rev;
ALTER TABLE counter RENAME TO meta;
ALTER TABLE meta ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
UPDATE meta SET version = 5;
