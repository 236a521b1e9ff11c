import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { conformanceVectors, problemOf } from '../../test/cel/vectors.js';

/** Vectors that we answer otherwise, by the reason: sections with names of vectors, or "all" of a section. */
type Excuses = Readonly<Record<string, Readonly<Record<string, readonly string[] | 'all'>>>>;
const excuses = JSON.parse(readFileSync(join(__dirname, '../../test/cel/excused-vectors.json'), 'utf8')) as Excuses;

const vectors = conformanceVectors();
const results = vectors.map((vector) => ({ vector, problem: problemOf(vector) }));
const excused = Object.values(excuses).flatMap((sections) => Object.entries(sections));
const isExcused = ({ section, name }: { section: string; name: string }): boolean =>
  excused.some(([of, names]) => of === section && (names === 'all' || names.includes(name)));

describe('conformance vectors of the CEL specification', () => {
  it('are there: more than 2,300, of which at most a third is excused', () => {
    expect(vectors.length).toBeGreaterThan(2300);
    expect(vectors.filter(isExcused).length).toBeLessThan(vectors.length / 3);
  });

  it('get the value, the type or the error that they expect, unless they are excused', () => {
    const wrong = results.filter(({ vector, problem }) => problem !== undefined && !isExcused(vector));
    expect(wrong.map(({ vector, problem }) => `${vector.section} ${vector.name}: ${vector.expr}: ${problem}`)).toEqual(
      [],
    );
  });

  it('are excused only if they fail', () => {
    const right = results.filter(({ vector, problem }) => problem === undefined && isExcused(vector));
    expect(right.map(({ vector }) => `${vector.section} ${vector.name}`)).toEqual([]);
  });

  it('are excused by the names that they have', () => {
    const names = new Set(vectors.flatMap(({ section, name }) => [`${section} all`, `${section} ${name}`]));
    const unknown = excused.flatMap(([section, of]) =>
      (of === 'all' ? ['all'] : of).map((name) => `${section} ${name}`).filter((name) => !names.has(name)),
    );
    expect(unknown).toEqual([]);
  });
});
