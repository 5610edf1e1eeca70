import { MantineProvider } from "@mantine/core";
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import { Picker } from "./Picker";

const CHOICES = ["filter", "select", "window"].map((id) => ({ id, title: id, detail: `${id} of rows` }));

function shown() {
  const onPick = vi.fn();
  render(
    <MantineProvider>
      <Picker title="Add a node" choices={CHOICES} empty="None" onPick={onPick} onClose={() => undefined} />
    </MantineProvider>,
  );
  return { onPick, field: screen.getByRole("combobox") };
}

afterEach(cleanup);

describe("the picker", () => {
  it("picks with arrows and Enter, round the end", () => {
    const { onPick, field } = shown();
    fireEvent.keyDown(field, { key: "ArrowUp" });
    fireEvent.keyDown(field, { key: "Enter" });
    expect(onPick).toHaveBeenCalledWith("window");
  });

  it("narrows by typing and says which one Enter takes", () => {
    const { onPick, field } = shown();
    fireEvent.change(field, { target: { value: "rows sel" } });
    expect(screen.getAllByRole("option").map((option) => option.getAttribute("aria-selected"))).toEqual([
      "true",
    ]);
    fireEvent.keyDown(field, { key: "Enter" });
    expect(onPick).toHaveBeenCalledWith("select");
  });

  it("says so when nothing matches", () => {
    const { field } = shown();
    fireEvent.change(field, { target: { value: "nonsense" } });
    expect(screen.getByText("Nothing matches.")).toBeDefined();
  });
});
