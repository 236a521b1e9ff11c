const escaped = (text: string) => `\\u{${text.codePointAt(0)!.toString(16)}}`;

/** Escapes control characters, which names of users and texts of webhooks may have. */
export const printable = (line: string): string => line.replace(/\p{C}/gu, (text) => escaped(text));
