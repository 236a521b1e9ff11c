/** Expressions nested deeper are refused, so that no later pass can exhaust the stack. */
export const nestingMax = 250;
export const defaultExpressionCodePointsMax = 100_000;
