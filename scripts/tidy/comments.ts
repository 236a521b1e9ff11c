/** Words that open riddles: a comment starts with a verb or a noun (CONTRIBUTING, "Words"). */
const openings = 'What|Who|Whoever|Whom|Whose|Where|How|Whether|Those|Nobody';

const riddle = new RegExp(`(?:^|\\s)(?://|/\\*\\*?|\\*)\\s*(?:${openings})\\b`);
const banner = /^\s*(?:\/\/|\/\*+|\*)\s*[=*#~_-]{4,}/;

/** Returns comments that start with an interrogative or a pronoun, and banner lines, as `line: text`. */
export function commentProblems(source: string): string[] {
  return source.split('\n').flatMap((line, index) => {
    const where = `${index + 1}: ${line.trim()}`;
    if (banner.test(line)) return [`${where} (banner line)`];
    return riddle.test(line) ? [`${where} (start the comment with a verb or a noun)`] : [];
  });
}
