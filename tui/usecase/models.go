package usecase

import (
	"context"

	tea "charm.land/bubbletea/v2"
)

type (
	// ModelsRefreshed is the outcome of RefreshModels.
	ModelsRefreshed struct {
		Reply
		Failed map[string]error // errors by provider, for providers whose models could not be listed
		Gone   error            // why the selected model can no longer answer
	}
	// ModelPicked is the outcome of PickModel.
	ModelPicked struct {
		Reply
		ID     string
		Recent []string // recently picked models, newest first
	}
	// FavouritesChanged is the outcome of ToggleFavourite.
	FavouritesChanged struct {
		Reply
		ID         string // the model that was marked or unmarked
		Favourites []string
	}
	// SettingChanged is the outcome of SetSetting.
	SettingChanged struct {
		Reply
		Key, Value string
	}
)

// RefreshModels asks the endpoints for their models. The outcome is ModelsRefreshed.
func (c *Commands) RefreshModels(request int64) tea.Cmd {
	return c.command(request, "list the models", func(ctx context.Context, c call) (Outcome, error) {
		failed := c.Workspace.RefreshModels(ctx)
		_, _, _, gone := c.Session().Registry().Open(c.Session().Model())
		return ModelsRefreshed{c.reply(), failed, gone}, nil
	})
}

// PickModel selects the model for new messages. The outcome is ModelPicked.
func (c *Commands) PickModel(request int64, id string) tea.Cmd {
	return c.command(request, "select the model", func(ctx context.Context, c call) (Outcome, error) {
		err := c.Workspace.PickModel(ctx, id)
		return ModelPicked{c.reply(), id, c.RecentModels(ctx)}, err
	})
}

// ToggleFavourite marks a model as a favourite, or removes the mark. The outcome is
// FavouritesChanged.
func (c *Commands) ToggleFavourite(request int64, id string) tea.Cmd {
	return c.command(request, "mark the model", func(ctx context.Context, c call) (Outcome, error) {
		all, err := c.Workspace.ToggleFavourite(ctx, id)
		return FavouritesChanged{c.reply(), id, all}, err
	})
}

// SetSetting changes a setting of the session. The outcome is SettingChanged.
func (c *Commands) SetSetting(request int64, key, value string) tea.Cmd {
	return c.command(request, "change the setting", func(_ context.Context, c call) (Outcome, error) {
		err := c.Set(key, value)
		return SettingChanged{c.reply(), key, value}, err
	})
}
