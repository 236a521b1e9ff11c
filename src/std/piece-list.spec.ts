import fc from 'fast-check';
import { PieceList } from './piece-list.js';

it('a PieceList equals an array after the same operations', () => {
  const operation = fc.tuple(fc.constantFrom('insert', 'remove', 'set'), fc.nat());
  fc.assert(
    fc.property(fc.nat({ max: 3000 }), fc.array(operation, { maxLength: 300 }), (length, operations) => {
      const array = Array.from({ length }, (_, index) => index);
      const list = new PieceList(array);
      operations.forEach(([name, at], value) => {
        if (name === 'insert') {
          const index = at % (array.length + 1);
          array.splice(index, 0, -value);
          list.insert(index, -value);
        } else if (array.length > 0) {
          const index = at % array.length;
          if (name === 'remove') {
            array.splice(index, 1);
            list.remove(index);
          } else {
            array[index] = -value;
            list.set(index, -value);
          }
        }
        expect(list.length).toBe(array.length);
        expect(list.at(at)).toBe(array[at]);
      });
      expect(list.toArray()).toEqual(array);
    }),
  );
});

it('a PieceList splits a piece that insertions have filled', () => {
  const array: number[] = [];
  const list = new PieceList<number>([]);
  for (let value = 0; value < 5000; value++) {
    array.splice(0, 0, value);
    list.insert(0, value);
  }
  expect(list.toArray()).toEqual(array);
  expect(list.at(4999)).toBe(0);
  expect(list.at(5000)).toBeUndefined();
});
