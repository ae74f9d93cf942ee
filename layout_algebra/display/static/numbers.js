// Exact integers in JavaScript: floor division, remainders and XOR that are right up to 2^53, and a
// refusal beyond.  Example: floorDiv(-3, 2) is -2, modulo(-3, 2) is 1, xor(64, 8) is 72.

/** What a page says of a text or a number that it cannot take; `column` is where, or null. */
export class PageError extends Error {
  constructor(message, column = null) {
    super(message);
    this.name = "PageError";
    this.column = column;
  }
}

/** The number, if it is an exact integer. */
export function exact(value) {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) {
    throw new PageError(`${value} is beyond 2^53, where this page stops counting: use Python`);
  }
  return number;
}

export function floorDiv(x, divisor) {
  return Math.floor(x / divisor);
}

/** The remainder with the divisor's sign, as in Python. */
export function modulo(x, divisor) {
  return ((x % divisor) + divisor) % divisor;
}

/** Bits `from`, from + 1, ... of a number (two's complement), `count` of them. */
export function bitField(x, from, count) {
  return modulo(Math.floor(x / 2 ** from), 2 ** count);
}

/** a xor b; 32 bits at once where that is enough, BigInt otherwise. */
export function xor(a, b) {
  if (a >= 0 && b >= 0 && a < 2 ** 31 && b < 2 ** 31) return a ^ b;
  return exact(BigInt(exact(a)) ^ BigInt(exact(b)));
}

export function product(numbers) {
  return exact(numbers.reduce((total, number) => total * BigInt(number), 1n));
}

/** The digits of a number in mixed radix, the last one fastest; the first is not reduced. */
export function digitsOf(flat, radices) {
  const digits = new Array(radices.length);
  let rest = flat;
  for (let k = radices.length - 1; k > 0; k -= 1) {
    digits[k] = rest % radices[k];
    rest = Math.floor(rest / radices[k]);
  }
  if (radices.length) digits[0] = rest;
  return digits;
}

/** The number that has these digits. */
export function numberOf(digits, radices) {
  return radices.reduce((total, radix, k) => total * radix + digits[k], 0);
}

/** Lanes as spans: "0-3, 7". */
export function spans(numbers) {
  const parts = [];
  for (let k = 0; k < numbers.length;) {
    let end = k;
    while (end + 1 < numbers.length && numbers[end + 1] === numbers[end] + 1) end += 1;
    parts.push(end > k ? `${numbers[k]}-${numbers[end]}` : `${numbers[k]}`);
    k = end + 1;
  }
  return parts.join(", ");
}
