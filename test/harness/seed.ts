/**
 * The seed of a random test: that of SEED or FUZZ_SEED, or a new one on each run. In CI it is always the same, so that no
 * change is refused for what another one has broken.
 */
export function chosenSeed(): number {
  const given = process.env['FUZZ_SEED'] ?? process.env['SEED'];
  if (given !== undefined) return Number(given);
  return process.env['CI'] === 'true' ? ciSeed : Math.floor(Math.random() * 2 ** 31);
}

const ciSeed = 1;
