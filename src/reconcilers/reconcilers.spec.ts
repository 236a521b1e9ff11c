import { reconcilerNames } from '../config/reconciler-names.js';
import { reconcilers } from './reconcilers.js';

it('those that run are those that --controllers can name', () => {
  expect(reconcilers.map(({ name }) => name).sort()).toEqual([...reconcilerNames].sort());
});
