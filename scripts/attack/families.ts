import type { Family } from './attack.js';
import { admissionFamily } from './families/admission.js';
import { answersFamily } from './families/answers.js';
import { applyFamily } from './families/apply.js';
import { bodiesFamily } from './families/bodies.js';
import { catalogFamily } from './families/catalog.js';
import { patchesFamily } from './families/patches.js';
import { headersFamily } from './families/headers.js';
import { reviewsFamily } from './families/reviews.js';
import { rightsFamily } from './families/rights.js';
import { rulesFamily } from './families/rules.js';
import { schemasFamily } from './families/schemas.js';
import { selectorsFamily } from './families/selectors.js';
import { textsFamily } from './families/texts.js';

/** In the order of the attack. */
export const families: readonly Family[] = [
  bodiesFamily,
  patchesFamily,
  applyFamily,
  selectorsFamily,
  schemasFamily,
  rulesFamily,
  rightsFamily,
  reviewsFamily,
  admissionFamily,
  headersFamily,
  answersFamily,
  textsFamily,
  catalogFamily,
];
