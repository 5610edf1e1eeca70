/** The type under which an operator's name travels from the palette to the canvas. */
export const DRAGGED_OPERATOR = "application/x-headrace-operator";
