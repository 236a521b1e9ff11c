import { EncodedObject } from '../cache/encoded-object.js';
import { noRevision, revisionOf } from '../machinery/revision.js';
import { RecentWrites } from './recent-writes.js';

const bytesOf = (text: string) => Buffer.from(text.repeat(100_000));
const encoded = (key: string) => {
  const bytes = Buffer.from('{"kind":"K","apiVersion":"v1","metadata":{"resourceVersion":"0","name":"n"}}');
  return new EncodedObject(key, noRevision, bytes, { namespace: '', name: 'n', labels: undefined, fields: {} });
};

describe('recent writes', () => {
  it('are found by key and value, at the revision at which they were written', () => {
    const recent = new RecentWrites();
    recent.add('/a', bytesOf('a'), () => encoded('/a'));
    const found = recent.find('/a', bytesOf('a'), revisionOf(7))!;
    expect(found).toMatchObject({ key: '/a', revision: 7 });
    expect(found.parse().metadata).toEqual({ resourceVersion: '7', name: 'n' });
    expect(recent.find('/a', bytesOf('a'), revisionOf(7))).toBe(found);
    expect(recent.find('/a', bytesOf('b'), revisionOf(8))).toBeUndefined();
    expect(recent.find('/b', bytesOf('a'), revisionOf(8))).toBeUndefined();
  });

  it('are not kept where values are small', () => {
    const recent = new RecentWrites();
    recent.add('/a', Buffer.from('a'), () => encoded('/a'));
    expect(recent.find('/a', Buffer.from('a'), revisionOf(7))).toBeUndefined();
  });

  it('are forgotten when others have followed', () => {
    const recent = new RecentWrites();
    for (const key of ['/a', '/b', '/c']) recent.add(key, bytesOf(key), () => encoded(key));
    const kept = ['/a', '/b', '/c'].filter((key) => recent.find(key, bytesOf(key), revisionOf(7)));
    expect(kept).toEqual(['/b', '/c']);
  });
});
