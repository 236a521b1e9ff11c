import { svg } from './dom.js';

const paths = {
  objects: 'M3 4h14M3 10h14M3 16h14',
  tree: 'M5 4v8a3 3 0 0 0 3 3h3M5 8h6M11 5.5h5v5h-5zM11 12.5h5v5h-5zM3 2.5h4v3H3z',
  stream: 'M2 10h3l2-6 4 12 3-9 1.5 3H18',
  history: 'M10 5v5l3 2M3.5 10a6.5 6.5 0 1 0 2-4.7M3 3v3.5h3.5',
  access: 'M10 2.5 16 5v4.5c0 4-2.6 6.6-6 8-3.4-1.4-6-4-6-8V5zM7.5 10l2 2 3.5-4',
  traffic: 'M3 17h14M5 17v-6M10 17V4M15 17V8',
  theme: 'M10 3a7 7 0 1 0 7 7 5 5 0 0 1-7-7z',
};

/** Returns an icon of the text's colour; its meaning is in the text beside it. */
export function icon(name) {
  const properties = { viewBox: '0 0 20 20', class: 'icon', 'aria-hidden': 'true' };
  return svg('svg', properties, svg('path', { d: paths[name] }));
}
