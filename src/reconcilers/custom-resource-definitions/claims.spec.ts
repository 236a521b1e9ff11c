import { EncodedObject } from '../../cache/encoded-object.js';
import { revisionOf } from '../../machinery/revision.js';
import { ClaimBook } from './claims.js';

interface DefinitionOptions {
  readonly group?: string;
  readonly accepted?: object;
  readonly isWaiting?: boolean;
}
let revision = 0;
const entry = (
  name: string,
  { group = 'g', accepted = {}, isWaiting = false }: DefinitionOptions = {},
): EncodedObject => {
  const conditions = [{ type: 'NamesAccepted', status: isWaiting ? 'False' : 'True' }];
  const object = { metadata: { name }, spec: { group }, status: { acceptedNames: accepted, conditions } };
  const attributes = { namespace: '', name, labels: undefined, fields: {} };
  return new EncodedObject(name, revisionOf(++revision), Buffer.from(JSON.stringify(object)), attributes);
};
const names = { plural: 'as', singular: 'a', shortNames: ['x', 'y'], kind: 'A', listKind: 'AList' };

let book: ClaimBook;
beforeEach(() => {
  book = new ClaimBook();
  book.note('a', entry('a', { accepted: names }));
  book.note('waits', entry('waits', { isWaiting: true }));
  book.note('has', entry('has'));
  book.note('elsewhere', entry('elsewhere', { group: 'h', isWaiting: true }));
});

it('returns the accepted names of other definitions in the group', () => {
  expect(book.others({ group: 'g', definition: 'waits' })).toMatchObject([
    {
      definition: 'a',
      resources: new Set(['as', 'a', 'x', 'y']),
      kinds: new Set(['A', 'AList']),
      isEstablished: false,
    },
    { definition: 'has', resources: new Set(), kinds: new Set() },
  ]);
  expect(book.others({ group: 'h', definition: 'elsewhere' })).toEqual([]);
});

it.each<[string, EncodedObject | undefined, string[]]>([
  ['was deleted', undefined, ['waits']],
  ['releases a name', entry('a', { accepted: { ...names, shortNames: ['x'] } }), ['waits']],
  ['accepts another name', entry('a', { accepted: { ...names, shortNames: ['x', 'y', 'z'] } }), []],
  ['is unchanged', entry('a', { accepted: names }), []],
  [
    'cannot be read',
    EncodedObject.corrupt({ key: 'a', modRevision: revisionOf(1), value: Buffer.alloc(0) }, new Error('no')),
    ['waits'],
  ],
])('note() returns the definitions that wait for a name of a definition that %s', (_what, after, want) =>
  expect(book.note('a', after)).toEqual(want),
);

it('a deleted definition has no claim; clear() removes all claims', () => {
  book.note('a', undefined);
  expect(book.others({ group: 'g', definition: 'waits' }).map(({ definition }) => definition)).toEqual(['has']);
  book.clear();
  expect(book.others({ group: 'g', definition: 'waits' })).toEqual([]);
});
