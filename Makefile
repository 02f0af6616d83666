# The commands of this project; meson does the work. On a machine without make, tools/demo and
# tools/check are the same as `make demo` and `make check`.
BUILD ?= build

.PHONY: all demo check check-full check-asan format install clean

all: $(BUILD)/build.ninja
	ninja -C $(BUILD)

$(BUILD)/build.ninja:
	meson setup --buildtype=debugoptimized $(BUILD)

# Installs what is needed, builds whet, and lets whet release itself; the result comes last.
demo:
	@tools/demo $(BUILD)

# Everything that fits into CI; the last line counts.
check:
	@tools/check $(BUILD)

# The same under AddressSanitizer and UndefinedBehaviorSanitizer.
check-asan:
	@tools/check --asan $(BUILD)-asan

# Every acceptance point without a limit; writes docs/acceptance.md.
check-full: check
	@tests/run --build $(BUILD) --rest
	@tools/acceptance --build $(BUILD)

format:
	@tools/check-format --fix

install: all
	meson install -C $(BUILD) --no-rebuild

clean:
	rm -rf $(BUILD) $(BUILD)-asan
