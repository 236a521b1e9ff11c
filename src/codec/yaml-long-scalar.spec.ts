import fc from 'fast-check';
import * as yaml from 'js-yaml';
import { longScalarValue } from './yaml-long-scalar.js';

/** The values of all scalars of the text, by js-yaml and by longScalarValue(); undefined if it is not YAML. */
function valuesOf(text: string): { readonly theirs: string[]; readonly ours: string[] } | undefined {
  let events: readonly yaml.Event[];
  try {
    events = yaml.parseEvents(text, {});
  } catch {
    return undefined;
  }
  const scalars = events.filter((event) => event.type === yaml.EVENT_ID.SCALAR && event.valueStart >= 0);
  return {
    theirs: scalars.map((event) => yaml.getScalarValue(text, event as yaml.ScalarEvent)),
    ours: scalars.map((event) => longScalarValue(text, event as yaml.ScalarEvent, yaml)),
  };
}

describe('longScalarValue', () => {
  it.each([
    ['a plain scalar of several lines', 'a: b  \n  c\n\n\n  d \n'],
    ['single quotes', "'it''s  \n  \n folded '' '"],
    ['double quotes', '"a\\tb \\\n  c\\x41\\u00e9\\U0001F600\\N\\_\\L\\P\\0 \\" \\/ \\\\ \n\n d "'],
    ['code points that do not exist', '"\\UFFFFFFFF\\U00110000"'],
    ['a literal block', 'a: |\n\n  x\n    y\n\n  z\n\n'],
    ['a literal block that keeps trailing line breaks', 'a: |+\n  x\n\n\n'],
    ['a literal block that strips trailing line breaks', 'a: |-\n  x\n\n\n'],
    ['a block of empty lines', 'a: |+\n\n\n\nb: >\n\n\n'],
    ['a block with an indentation indicator', 'a: |2\n    x\n   y\n'],
    ['a folded block', 'a: >\n  x\n  y\n\n  z\n    more\n     indented\n\n  less\n'],
    ['a folded block with tabs', 'a: >\n  x\n  \ty\n  z'],
    ['CR LF and CR line breaks', 'a: |\r\n  x\r\n  y\rb: "c\r\n d"\r'],
    ['non-ASCII characters', 'a: |\n  é 💩\nb: "💩\n 💩"'],
  ])('reads %s as js-yaml does', (_, text) => {
    const values = valuesOf(text)!;
    expect(values.ours).toEqual(values.theirs);
  });

  it('reads random scalars as js-yaml does', () => {
    const pieces = fc.constantFrom(
      ...['\n', '\n  ', '\n   ', '\r\n  ', '\r', ' ', '\t', 'x', 'é', '💩', ':', '#', '-'],
      ...['\\n', '\\x41', '\\u2028', '\\U0001F600', '\\\n  ', '\\ ', "''", '\\"', '\\\\'],
    );
    const heads = fc.constantFrom('', '"', "'", '|\n  ', '|+\n ', '|-\n', '>\n  ', '>+\n', '>-\n   ', '|1\n', '>2\n');
    let compared = 0;
    fc.assert(
      fc.property(heads, fc.array(pieces, { maxLength: 25 }), (head, body) => {
        const text = `a: ${head}${body.join('')}${head === '"' || head === "'" ? head : ''}\n`;
        const values = valuesOf(text);
        if (!values) return;
        compared++;
        expect(values.ours).toEqual(values.theirs);
      }),
      { numRuns: 3_000, seed: 1 },
    );
    expect(compared).toBeGreaterThan(500);
  });
});
